package library_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/train"
)

func Example_resume() {
	const checkpoint = "run.bnc"
	defer os.Remove(checkpoint)
	ctx, stop := context.WithCancel(context.Background())
	o := bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:256", Checkpoint: checkpoint}
	o.Observer = bnctl.ObserverFunc(func(e bnctl.Event) error {
		switch e := e.(type) {
		case train.Started:
			fmt.Println("from step", e.FirstStep, "to", e.TotalSteps)
		case train.EpochDone:
			stop() // the first epoch is enough for today
		}
		return nil
	})
	run, err := bnctl.Open(ctx, o)
	check(err)
	_, err = run.Train(ctx)
	fmt.Println(errors.Is(err, context.Canceled))
	run.Close()

	// The next day, continue the run: the checkpoint has the model, the recipe and the paths. Other data is
	// refused.
	o = bnctl.TrainOptions{Resume: checkpoint, Checkpoint: checkpoint, Observer: o.Observer}
	o.Fleet.Devices = "2xcpu"
	run, err = bnctl.Open(context.Background(), o)
	check(err)
	defer run.Close()
	template, err := run.Train(context.Background())
	check(err)
	fmt.Println(template.Architecture)
	// Output:
	// from step 0 to 20
	// true
	// from step 2 to 20
	// mlp-bn
}
