package library_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/train"
)

func Example_resume() {
	const checkpoint = "run.bnc"
	defer os.Remove(checkpoint)
	ctx, stop := context.WithCancel(context.Background())
	o := bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:256", Checkpoint: checkpoint}
	o.Events = func(e train.Event) {
		if _, ok := e.(train.EpochDone); ok {
			stop() // the first epoch is enough for today
		}
	}
	_, err := bnctl.Train(ctx, o)
	fmt.Println(errors.Is(err, context.Canceled))

	// Tomorrow: the checkpoint knows the recipe and the paths.
	k, err := serialize.ReadCheckpoint(checkpoint)
	check(err)
	r, err := train.ParseRecipe(k.Recipe)
	check(err)
	src, err := data.Open(context.Background(), "glyphs:256", data.Options{})
	check(err)
	defer src.Close()
	check(r.SetData(context.Background(), src, nil)) // other data is refused
	f, err := fleet.Open(context.Background(), fleet.Options{Devices: "2xcpu"})
	check(err)
	defer f.Close()
	s, err := train.Resume(context.Background(), k, r, train.Config{Train: src, Fleet: f, Checkpoint: checkpoint,
		Events: func(e train.Event) {
			if e, ok := e.(train.Started); ok {
				fmt.Println("from step", e.FirstStep, "to", e.TotalSteps)
			}
		}})
	check(err)
	defer s.Close()
	template, err := s.Run(context.Background())
	check(err)
	fmt.Println(template.Architecture)
	// Output:
	// true
	// from step 2 to 20
	// mlp-bn
}
