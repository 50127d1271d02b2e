package main

import (
	"bytes"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/recipe"
)

// The defaults of the flags give the recipe that users of the library get. If the batch is smaller, the
// number of replicas may differ.
func TestFlagsShowTheDefaults(t *testing.T) {
	for _, c := range []struct {
		args   []string
		model  string
		change func(*recipe.Recipe)
	}{
		{nil, "lenet-bn", func(*recipe.Recipe) {}},
		{[]string{"--model", "resnet20"}, "resnet20", func(*recipe.Recipe) {}},
		{[]string{"--model", "mine.bng"}, "mine.bng", func(*recipe.Recipe) {}},
		{[]string{"--batch", "4"}, "lenet-bn", func(r *recipe.Recipe) { r.Batch, r.Replicas = 4, 4 }},
		{[]string{"--steps", "9"}, "lenet-bn", func(r *recipe.Recipe) { r.Epochs, r.Steps = 0, 9 }},
	} {
		want := recipe.Default(c.model)
		c.change(want)
		app := &cli.App{Flags: trainFlags(), Action: func(x *cli.Context) error {
			got := &recipe.Recipe{Release: recipe.Release, Model: x.String("model"), Init: "seed"}
			err := fromFlags(x, got, false)
			if err != nil || !bytes.Equal(got.JSON(), want.JSON()) {
				t.Errorf("%v: %s, %v, want %s", c.args, got.JSON(), err, want.JSON())
			}
			return nil
		}}
		if err := app.Run(append([]string{"bnctl"}, c.args...)); err != nil {
			t.Error(err)
		}
	}
}
