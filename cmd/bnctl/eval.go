package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/tuned"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/predict"
)

func evalCommand() *cli.Command {
	return &cli.Command{
		Name:      "eval",
		Usage:     "accuracy, loss, a table of classes and the confusion matrix of a model",
		ArgsUsage: "MODEL --data SRC",
		Description: `Evaluates a template, or any model file, on labelled data, every sample once. The figures are
the same as training printed for this model and data, bit for bit, for any devices
and any batch. --fit evaluates masks at their full size.

   bnctl eval glyphs.bnm --data glyphs
   bnctl eval cifar.bnm --data cifar10:cifar-10.tar.gz --devices 2xcpu
   bnctl eval cifar.bnm --data folder:photos --json`,
		Flags: append(append(sourceFlags(),
			&cli.StringFlag{Name: "data", Usage: "`SRC` with labels (its part test, else val): " + sources},
			&cli.StringFlag{Name: "format", Value: "table", Usage: "table, or csv: a line for each sample"},
			&cli.StringFlag{Name: "mistakes", Usage: "write the pictures that were answered wrongly to a new folder " +
				"`DIR`, the worst first, with a page to look at them"},
			&cli.StringFlag{Name: "against", Usage: "evaluate `MODEL` too, and report how far the answers agree"},
		), slices.Concat(tuned.Flags(), fitFlags("crop"), predictFlags(), formFlags())...),
		Action: evalAction,
	}
}

func evalAction(c *cli.Context) error {
	path, err := oneArgument(c, "MODEL", "a file that train or strip has written")
	if err != nil {
		return err
	}
	e := &evaluationRun{path: path, source: c.String("data"), workers: c.Int("workers"),
		mistakes: c.String("mistakes"), otherPath: c.String("against"),
		csv:   c.String("format") == "csv",
		whole: predict.Whole{Overlap: c.Float64("overlap")}}
	if f := c.String("format"); f != "table" && f != "csv" {
		return misuse("--format %q: want table or csv", f)
	}
	if e.source == "" {
		return misuse("eval needs --data, for example --data glyphs")
	}
	if e.tuned, err = tuned.Read(c, path); err != nil {
		return err
	}
	if e.whole.Fit, err = data.ParseFit(cmp.Or(c.String("fit"), "crop")); err != nil {
		return err
	}
	if e.file, err = modelOptions(c); err != nil {
		return err
	}
	e.file.UniqueLabels = true
	if e.data, err = sourceOptions(c, data.Test); err != nil {
		return err
	}
	if e.options, err = runOptions(c); err != nil {
		return err
	}
	o := outputOf(c)
	return onRanks(c, o, func(ctx context.Context, ranks peers) error {
		e.options.Peers = ranks
		return e.run(ctx, o)
	})
}

// tunedOptions name the models that an evaluation writes: see package tuned.
type tunedOptions = tuned.Options

func tunedOutput(o *output) tuned.Output {
	return tuned.Output{Event: o.event, Result: o.result, Note: o.note}
}
