package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/nearest"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/recipefile"
)

// applyRecipeFile sets the flags of --recipe that the command line leaves open.
func applyRecipeFile(c *cli.Context) error {
	path := c.String("recipe")
	if path == "" {
		return nil
	}
	f, err := recipefile.Read(path)
	if err != nil {
		return err
	}
	for _, section := range []struct {
		name, other  string
		values       map[string]string
		flags, there []cli.Flag
	}{
		{"recipe", "run", f.Recipe, recipeFlags(), runFlags()},
		{"run", "recipe", f.Run, runFlags(), recipeFlags()},
	} {
		for _, name := range slices.Sorted(maps.Keys(section.values)) {
			if find(section.there, name) != nil {
				return misuse("%s: %s: %s belongs under %s:", path, section.name, name, section.other)
			}
		}
		if err := applyFlags(c, section.values, section.flags); err != nil {
			return misuse("%s: %s: %v", path, section.name, err)
		}
	}
	return nil
}

func applyFlags(c *cli.Context, values map[string]string, flags []cli.Flag) error {
	var known []string
	for _, f := range flags {
		known = append(known, f.Names()...)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown key %q%s", name, nearest.Name(name, known))
		}
		if c.IsSet(name) {
			continue
		}
		value := values[name]
		f := find(flags, name)
		if _, ok := f.(*cli.BoolFlag); ok {
			value = recipefile.Boolean(value)
		}
		if err := cmp.Or(checkValue(f, value), c.Set(name, value)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
