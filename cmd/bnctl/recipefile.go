package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/train/job"
)

// applyRecipeFile sets the flags of --recipe that the command line leaves open.
func applyRecipeFile(c *cli.Context) error {
	path := c.String("recipe")
	if path == "" {
		return nil
	}
	f, err := job.ReadRecipeFile(path)
	if err != nil {
		return err
	}
	for _, part := range []struct {
		name, other  string
		values       map[string]any
		flags, there []cli.Flag
	}{
		{"recipe", "run", f.Recipe, recipeFlags(), runFlags()},
		{"run", "recipe", f.Run, runFlags(), recipeFlags()},
	} {
		for _, name := range slices.Sorted(maps.Keys(part.values)) {
			if find(part.there, name) != nil {
				return misuse("%s: %s: %s belongs under %s:", path, part.name, name, part.other)
			}
		}
		if err := applyFlags(c, part.values, part.flags); err != nil {
			return misuse("%s: %s: %v", path, part.name, err)
		}
	}
	return nil
}

func applyFlags(c *cli.Context, values map[string]any, flags []cli.Flag) error {
	var known []string
	for _, f := range flags {
		known = append(known, f.Names()...)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown key %q%s", name, nearest(name, known))
		}
		if c.IsSet(name) {
			continue
		}
		if err := c.Set(name, asFlag(values[name])); err != nil {
			return fmt.Errorf("%s: %v", name, err)
		}
	}
	return nil
}

// asFlag writes a YAML value the way the command line has it.
func asFlag(v any) string {
	list, ok := v.([]any)
	if !ok {
		return fmt.Sprint(v)
	}
	var parts []string
	for _, x := range list {
		parts = append(parts, fmt.Sprint(x))
	}
	return strings.Join(parts, ",")
}
