package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/modelfile/quantize"
)

func quantizeCommand() *cli.Command {
	return &cli.Command{
		Name:      "quantize",
		Usage:     "make an int8 template, which predicts the same on every processor",
		ArgsUsage: "MODEL -o FILE",
		Description: `Weights and maps become bytes, with exact sums: docs/int8.md. Without --data the batch norms
give the range of each map, with --data samples do. Samples need no labels: a folder of pictures will do.

   bnctl quantize model.bnm -o q.bnm
   bnctl quantize model.bnm -o q.bnm --data folder:photos --samples 512`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write: .bnm"},
			&cli.StringFlag{Name: "data", Usage: "`SRC` to measure ranges on (its part train): " + sources},
			&cli.IntFlag{Name: "samples", Value: 512, Usage: "at most `N` samples of it"},
			&cli.StringFlag{Name: "method", DefaultText: "what loses least on the samples",
				Usage: "least-squares, percentile or minmax"},
			&cli.StringSliceFlag{Name: "keep", Usage: "`PATTERN` of names of layers that stay float32"},
			batchFlag("samples at once"), readersFlag(), labelsFlag(),
		}, fileFlags(), preprocessFlags(), runningFlags()),
		Action: quantizeAction,
	}
}

func quantizeAction(c *cli.Context) error {
	path, err := oneArgument(c, "MODEL", "a template, or a model file of another program")
	if err != nil {
		return err
	}
	n := outputOf(c)
	o := quantize.Options{Input: path, Output: c.String("output"), Keep: c.StringSlice("keep"),
		Source: c.String("data"), Samples: c.Int("samples"), Method: c.String("method"), Batch: c.Int("batch"),
		Workers: c.Int("workers"), Note: n.noteOptions, OnOpen: func(k *modelfile.Choice) { noteChoice(n, k) }}
	if o.Source == "" {
		err = without(c, "without --data nothing is measured", "samples", "method", "batch", "workers", "devices",
			"kernels", "threads", "device-plugin", "allow-unlocked")
	}
	err = cmp.Or(wantExtension("quantize", o.Output, ".bnm"), atLeast(c, 1, "samples", "batch"), err)
	if err != nil {
		return err
	}
	if o.File, err = modelOptions(c); err != nil {
		return err
	}
	if o.Fleet, err = fleetOptions(c, "", noLimit); err != nil {
		return err
	}
	r, err := quantize.File(c.Context, o)
	if errors.Is(err, quantize.ErrNoRange) {
		err = fmt.Errorf("%w\n  bnctl quantize %s -o %s --data folder:PICTURES", err, path, o.Output)
	}
	if err != nil {
		return err
	}
	reportQuantized(n, r)
	return nil
}
