package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/regular"
)

// recipeFile is what --recipe reads: flags by name, those that decide what
// comes out apart from those that do not.
type recipeFile struct {
	Recipe map[string]any `yaml:"recipe"`
	Run    map[string]any `yaml:"run"`
}

// applyRecipeFile sets the flags of --recipe that the command line leaves open.
func applyRecipeFile(c *cli.Context) error {
	path := c.String("recipe")
	if path == "" {
		return nil
	}
	f, err := readRecipeFile(path)
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

func readRecipeFile(path string) (recipeFile, error) {
	var f recipeFile
	text, err := regular.Read(path, maxRecipeBytes)
	if err != nil {
		return f, fmt.Errorf("--recipe: %w", err)
	}
	if err := bounded(text); err != nil {
		return f, misuse("%s: %v", path, err)
	}
	if err := yaml.UnmarshalWithOptions(text, &f, yaml.Strict()); err != nil {
		return f, misuse("%s: %v", path, err)
	}
	return f, nil
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
