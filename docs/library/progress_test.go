package library_test

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/train"
)

func Example_progress() {
	ctx := context.Background()
	o := bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:256", Validation: "glyphs:64"}
	o.Observer = bnctl.ObserverFunc(func(e bnctl.Event) error {
		switch e := e.(type) {
		case train.Started:
			fmt.Println(e.TotalSteps, "steps; batch norm sees", e.BatchNorm)
		case train.EpochDone:
			fmt.Println("epoch", e.Epoch, "of", e.Seen, "samples, better than chance:", *e.ValAccuracy > 0.1)
		case train.DeviceLost:
			fmt.Println(e.Device, "is lost; its replicas moved to", e.MovedTo)
		}
		return nil
	})
	run, err := bnctl.Open(ctx, o)
	check(err)
	defer run.Close()
	run.Recipe().Epochs = 2
	_, err = run.Train(ctx)
	check(err)
	// Output:
	// 4 steps; batch norm sees 128 samples, synchronised over 8 replicas
	// epoch 1 of 256 samples, better than chance: true
	// epoch 2 of 256 samples, better than chance: true
}
