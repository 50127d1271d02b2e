package main

import (
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/doctor"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/predict"
)

func evalCommand() *cli.Command {
	return &cli.Command{
		Name:      "eval",
		Usage:     "accuracy, loss, a table of classes and the confusion matrix of a model",
		ArgsUsage: "MODEL --data SRC",
		Description: `Evaluates a template, or any model file, on labelled data, every sample once. The figures are
those that training printed for the same model and data, bit for bit, whatever
the devices and the batch.

   bnctl eval glyphs.bnm --data glyphs
   bnctl eval cifar.bnm --data cifar10:cifar-10.tar.gz --devices 2xcpu
   bnctl eval cifar.bnm --data folder:photos --json`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "data", Usage: "`SRC` with labels (its test split, if it has one)"},
			skipFlag(),
		}, predictFlags()...),
		Action: evalAction,
	}
}

func evalAction(c *cli.Context) error {
	path, err := oneArgument(c, "MODEL", "a file that train or strip has written")
	if err != nil {
		return err
	}
	if c.String("data") == "" {
		return misuse("eval needs --data, for example --data glyphs")
	}
	v, err := viewModel(c, path)
	if err != nil {
		return err
	}
	defer v.Close()
	if err := v.Blame(evalWith(c, v)); err != nil {
		return err
	}
	sick := doctor.Of(v.Model)
	warnOfSickness(outputOf(c), &sick, path)
	return nil
}

// evalWith evaluates a model on the data of the command line.
func evalWith(c *cli.Context, v *modelfile.Viewed) error {
	skip, err := skipBad(c)
	if err != nil {
		return err
	}
	src, err := data.Open(c.String("data"), data.Options{Split: data.Test, EXIF: v.Preprocess.EXIF,
		SkipBad: skip, Array: modelfile.Arrays(v.Model, outputOf(c).note)})
	if err != nil {
		return err
	}
	defer src.Close()
	tellOfFiles(outputOf(c), "--data", src.Info())
	m, err := predict.Evaluable(v.Model, src.Info())
	if err != nil {
		return err
	}
	p, err := openPredictor(c.Context, c, m, src.Info().Len)
	if err != nil {
		return err
	}
	defer p.Close()
	began := time.Now()
	e, err := p.Evaluate(c.Context, src, c.Int("workers"))
	if err == nil {
		err = v.Verified()
	}
	if err != nil {
		return err
	}
	reportEvaluation(outputOf(c), m, e, time.Since(began))
	return nil
}
