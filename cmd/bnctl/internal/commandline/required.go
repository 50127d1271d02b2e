package commandline

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/problem"
)

// RequireValues returns an error if one of the flags has an empty value, which may come from a shell variable
// that is not set. These flags protect the server. With an empty value it would start without the protection.
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

// List reads a flag with comma-separated values. If the flag is not set, it returns nil. If a value cannot
// be read, the error ends with complaint, for example "not a number".
func List[T any](c *cli.Context, flag, complaint string, read func(string) (T, bool)) (out []T, err error) {
	if c.String(flag) == "" && !c.IsSet(flag) {
		return nil, nil
	}
	for text := range strings.SplitSeq(c.String(flag), ",") {
		v, ok := read(strings.TrimSpace(text))
		if !ok {
			return nil, Misuse("--%s %q: %q is %s", flag, c.String(flag), text, complaint)
		}
		out = append(out, v)
	}
	return out, nil
}

// RequireAtLeast returns an error if one of the flags is given with a value below low. A flag that is not
// given has the value 0, which is not an error.
func RequireAtLeast(c *cli.Context, low int, flags ...string) error {
	for _, f := range flags {
		if n := c.Int(f); c.IsSet(f) && n < low {
			return Misuse("--%s %d: want at least %d", f, n, low)
		}
	}
	return nil
}
