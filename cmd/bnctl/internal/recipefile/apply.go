package recipefile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/nearest"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/stores"
)

// Flags are the flags of a command line that a recipe file may set, divided like the parts of a File.
type Flags struct {
	Recipe, Run []cli.Flag
	// Check returns an error if a flag cannot read a value.
	Check func(f cli.Flag, value string) error
}

// Apply sets those flags of f that are not set on the command line.
func (s Flags) Apply(c *cli.Context, f File) error {
	for _, section := range []struct {
		name, other  string
		values       map[string]string
		flags, there []cli.Flag
	}{
		{"recipe", "run", f.Recipe, s.Recipe, s.Run},
		{"run", "recipe", f.Run, s.Run, s.Recipe},
	} {
		for _, name := range slices.Sorted(maps.Keys(section.values)) {
			if find(section.there, name) != nil {
				return fmt.Errorf("%s: %s belongs under %s", section.name, name, section.other)
			}
		}
		if err := s.apply(c, section.values, section.flags); err != nil {
			return fmt.Errorf("%s: %w", section.name, err)
		}
	}
	return nil
}

func (s Flags) apply(c *cli.Context, values map[string]string, flags []cli.Flag) error {
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
		value := stores.Visible([]string{values[name]})[0]
		f := find(flags, name)
		if _, ok := f.(*cli.BoolFlag); ok {
			value = Boolean(value)
		}
		if err := cmp.Or(s.Check(f, value), c.Set(name, value)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// Given returns the flags that are set on the command line, as a File.
func (s Flags) Given(c *cli.Context) File {
	given := func(flags []cli.Flag) map[string]string {
		values := map[string]string{}
		for _, f := range flags {
			name := f.Names()[0]
			if !c.IsSet(name) {
				continue
			}
			values[name] = valueOf(c, name)
		}
		return values
	}
	return File{Recipe: given(s.Recipe), Run: given(s.Run)}
}

// valueOf returns the value of a flag in the form of a command line.
func valueOf(c *cli.Context, name string) string {
	if list, ok := c.Value(name).(cli.StringSlice); ok {
		return strings.Join(list.Value(), ",")
	}
	return fmt.Sprint(c.Value(name))
}

// Words returns the flags that are set, except the excluded ones, as the arguments of a command.
func Words(c *cli.Context, flags []cli.Flag, excluded ...string) (words []string) {
	for _, f := range flags {
		name := f.Names()[0]
		if !c.IsSet(name) || slices.Contains(excluded, name) {
			continue
		}
		if _, ok := f.(*cli.BoolFlag); ok {
			words = append(words, strings.TrimSuffix("--"+name+"="+valueOf(c, name), "=true"))
			continue
		}
		words = append(words, "--"+name, valueOf(c, name))
	}
	return words
}

func find(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}
