package main

import (
	stdflag "flag"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/commandline"
	"github.com/bnctl/bnctl/models"
)

// Every option of a recipe that authors have published is a flag of train, and the flag accepts its value.
func TestPapersAreFlags(t *testing.T) {
	for _, a := range models.Architectures() {
		p, ok := a.Paper()
		if !ok {
			continue
		}
		set := stdflag.NewFlagSet(a.Name, stdflag.ContinueOnError)
		flags := map[string]cli.Flag{}
		for _, f := range recipeFlags() {
			flags[f.Names()[0]] = f
			if err := f.Apply(set); err != nil {
				t.Fatal(err)
			}
		}
		for name, value := range p.Options {
			if err := set.Set(name, value); err != nil {
				t.Errorf("%s: --%s %s: %v", a.Name, name, value, err)
			}
			if err := commandline.CheckValue(flags[name], value); err != nil {
				t.Errorf("%s: --%s %s: %v", a.Name, name, value, err)
			}
		}
	}
}
