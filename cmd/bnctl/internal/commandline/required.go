package commandline

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/problem"
)

// RequireValues refuses flags that are given without a value, as an unset variable of a shell leaves
// them: the server would start without what they protect.
func RequireValues(c *cli.Context, names ...string) error {
	for _, name := range names {
		if !c.IsSet(name) {
			continue
		}
		values := c.StringSlice(name)
		if values == nil {
			values = []string{c.String(name)}
		}
		if len(values) == 0 || slices.Contains(values, "") {
			return problem.New("", "", "--"+name+" is empty", "give it a value, or leave it out")
		}
	}
	return nil
}

// List reads a flag's values, which commas separate; nil for none. What cannot be
// read is refused as being not what it should be.
func List[T any](c *cli.Context, flag, not string, read func(string) (T, bool)) (out []T, err error) {
	if c.String(flag) == "" && !c.IsSet(flag) {
		return nil, nil
	}
	for text := range strings.SplitSeq(c.String(flag), ",") {
		v, ok := read(strings.TrimSpace(text))
		if !ok {
			return nil, Misuse("--%s %q: %q is %s", flag, c.String(flag), text, not)
		}
		out = append(out, v)
	}
	return out, nil
}

// RequireAtLeast refuses flags below 1 that the user gave: what a 0 would mean is said
// by leaving them out.
func RequireAtLeast(c *cli.Context, low int, flags ...string) error {
	for _, f := range flags {
		if n := c.Int(f); c.IsSet(f) && n < low {
			return Misuse("--%s %d: want at least %d", f, n, low)
		}
	}
	return nil
}
