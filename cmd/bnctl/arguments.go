package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// oneArgument returns the only argument of a command.
func oneArgument(c *cli.Context, name, description string) (string, error) {
	switch c.NArg() {
	case 1:
		return c.Args().First(), nil
	case 0:
		return "", misadvise("bnctl "+fullName(c)+" --help shows examples",
			"%s needs %s: %s", fullName(c), name, description)
	}
	return "", misuse("%s needs one %s, not %d: %s", fullName(c), name, c.NArg(),
		strings.Join(c.Args().Slice(), ", "))
}

// noArguments returns an error if the command line has arguments.
func noArguments(c *cli.Context) error {
	if c.NArg() > 0 {
		return misadvise("bnctl "+fullName(c)+" --help shows examples",
			"%s accepts no argument %q", fullName(c), c.Args().First())
	}
	return nil
}

// fullName returns the name of a command after the name of the command above it: "data info".
func fullName(c *cli.Context) string {
	name := c.Command.Name
	for _, parent := range c.Lineage()[1:] {
		if parent.Command != nil && parent.Command.Name != "" && parent.Command.Name != "bnctl" {
			name = parent.Command.Name + " " + name
		}
	}
	return name
}

// wantExtension returns an error unless the path of -o ends with one of the extensions.
func wantExtension(command, path string, extensions ...string) error {
	if path == "" {
		return misuse("%s needs -o FILE, with a name that ends with %s", command, strings.Join(extensions, ", "))
	}
	if !slices.Contains(extensions, strings.ToLower(filepath.Ext(path))) {
		return misuse("-o %s: %s writes %s; the ending picks the form", path, command,
			strings.Join(extensions, ", "))
	}
	return nil
}

// onlyWith returns an error if one of the flags is given without the switch need, which they depend on.
func onlyWith(c *cli.Context, need string, flags []cli.Flag) error {
	for _, f := range flags {
		if name := f.Names()[0]; c.IsSet(name) && !c.Bool(need) {
			return misuse("--%s has a meaning only with --%s", name, need)
		}
	}
	return nil
}

// refuse returns an error if one of the flags is set, because it would have no effect. why is the reason.
func refuse(c *cli.Context, why string, flags ...string) error {
	for _, f := range flags {
		if c.IsSet(f) {
			return misadvise("leave it out", "--%s means nothing here: %s", f, why)
		}
	}
	return nil
}
