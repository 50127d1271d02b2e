package train_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/train"
)

// A run by hand, on the reference device: data, model, recipe, devices, session.
func ExampleNew() {
	ctx := context.Background()
	src, err := data.Open(ctx, "glyphs:64", data.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close()
	r := recipe.Default("mlp-bn")
	r.Epochs, r.Batch, r.Replicas = 1, 32, 2
	started, err := modelfile.Start("mlp-bn", src.Info(), modelfile.StartOptions{})
	if err != nil {
		log.Fatal(err)
	}
	r.SetModel(started.Model)
	if err := r.SetData(ctx, src, nil); err != nil {
		log.Fatal(err)
	}
	f, err := fleet.Open(ctx, fleet.Options{Devices: "ref"})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	s, err := train.New(ctx, r, started.Model, train.Config{Train: src, Fleet: f})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	template, err := s.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(template.Architecture, "after", r.TotalSteps(), "steps")
	// Output: mlp-bn after 2 steps
}
