package commandline

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/problem"
)

// RequireValues refuses flags with an empty value, which may come from an unset shell variable.
// Without the value, the server would start without the protection of the flag.
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

// List reads a flag's comma-separated values. It returns nil for an unset flag. If a
// value cannot be read, the error ends with the argument not, for example "not a number".
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

// RequireAtLeast refuses flags that the user gave with a value below low. Leaving a flag
// out has the meaning that 0 would have.
func RequireAtLeast(c *cli.Context, low int, flags ...string) error {
	for _, f := range flags {
		if n := c.Int(f); c.IsSet(f) && n < low {
			return Misuse("--%s %d: want at least %d", f, n, low)
		}
	}
	return nil
}
