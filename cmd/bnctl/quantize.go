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
	if c.String("data") == "" {
		err = refuse(c, "without --data nothing is measured", "samples", "method", "batch", "workers", "devices",
			"kernels", "threads", "device-plugin", "allow-unlocked")
	}
	if err = cmp.Or(wantExtension("quantize", c.String("output"), ".bnm"), err); err != nil {
		return err
	}
	o, err := quantizeOptions(c, path)
	if err != nil {
		return err
	}
	o.Output, o.Keep, o.Method = c.String("output"), c.StringSlice("keep"), c.String("method")
	o.OnOpen = func(k *modelfile.Choice) { noteChoice(n, k) }
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

// quantizeOptions returns the options for the model and its samples that the flags set.
func quantizeOptions(c *cli.Context, path string) (o quantize.Options, err error) {
	if err := atLeast(c, 1, "samples", "batch"); err != nil {
		return o, err
	}
	o = quantize.Options{Input: path, Source: c.String("data"), Samples: c.Int("samples"), Batch: c.Int("batch"),
		Workers: c.Int("workers"), Note: outputOf(c).noteOptions}
	if o.File, err = modelOptions(c); err != nil {
		return o, err
	}
	o.Fleet, err = fleetOptions(c, c.String("precision"), noLimit)
	return o, err
}
