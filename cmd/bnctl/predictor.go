package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
)

// predictFlags are the flags of commands that predict for the samples of a source.
func predictFlags() []cli.Flag {
	own := []cli.Flag{batchFlag("rows at once, over all devices; changes no result"), readersFlag(),
		precisionFlag()}
	return slices.Concat(own, fileFlags(), preprocessFlags(), runningFlags())
}

// runningFlags say on what a model is run.
func runningFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "kernels", Value: "auto", Usage: "kernel class: auto, amx, fma or generic"},
	}, deviceFlags()...)
}

func batchFlag(usage string) cli.Flag { return &cli.IntFlag{Name: "batch", Value: 128, Usage: usage} }

func readersFlag() cli.Flag {
	return &cli.IntFlag{Name: "workers", Usage: "goroutines that read", DefaultText: "one per core"}
}

// openPredictor opens a predictor on the devices of the flags at --batch and
// --precision, and says if the model was trained in another way.
func openPredictor(ctx context.Context, c *cli.Context, m *models.Model, samples int) (
	*predict.Predictor, error) {
	o := predict.Options{Batch: c.Int("batch"), Samples: samples}
	var err error
	if o.Fleet, err = fleetOptions(c, c.String("precision"), noLimit); err != nil {
		return nil, err
	}
	p, err := predict.Open(ctx, m, o)
	if err == nil {
		warnOfTraining(outputOf(c), m, p.Terms())
	}
	return p, err
}

// unreadable lists the inputs that could not be read, after the others.
func unreadable(bad []error, of int) error {
	if len(bad) == 0 {
		return nil
	}
	lines := make([]string, len(bad))
	for i, err := range bad {
		lines[i] = "\n   " + err.Error()
	}
	return fmt.Errorf("%d of %d inputs cannot be read:%s", len(bad), of, strings.Join(lines, ""))
}
