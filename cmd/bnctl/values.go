package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// list reads a flag's values, which commas separate; nil for none. What cannot be
// read is refused as being not what it should be.
func list[T any](c *cli.Context, flag, not string, read func(string) (T, bool)) (out []T, err error) {
	if c.String(flag) == "" && !c.IsSet(flag) {
		return nil, nil
	}
	for text := range strings.SplitSeq(c.String(flag), ",") {
		v, ok := read(strings.TrimSpace(text))
		if !ok {
			return nil, misuse("--%s %q: %q is %s", flag, c.String(flag), text, not)
		}
		out = append(out, v)
	}
	return out, nil
}

// atLeast refuses flags below 1 that the user gave: what a 0 would mean is said
// by leaving them out.
func atLeast(c *cli.Context, low int, flags ...string) error {
	for _, f := range flags {
		if n := c.Int(f); c.IsSet(f) && n < low {
			return misuse("--%s %d: want at least %d", f, n, low)
		}
	}
	return nil
}
