package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/doctor"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

func predictCommand() *cli.Command {
	return &cli.Command{
		Name:      "predict",
		Usage:     "what a model says of images, folders, archives, .npy files or a data source",
		ArgsUsage: "MODEL INPUT...",
		Description: `Runs a template in eval mode. A prediction depends on the model and the input
alone: it is, bit for bit, what evaluation during training computed, whatever the
devices, the batch and the other inputs.

Pictures are resized, cropped and normalised as the model says. An .npy file holds
pictures as uint8 [N,H,W,C], or numbers as float32 of the shape of the model's
input [N,C,H,W], on which its preprocessing is not done again. Other types and
layouts are converted with a note, or refused where that would be a guess.

Classes with probabilities are printed where the model gives probabilities of
classes or logits: see docs/predict.md for the rule. One sigmoid unit is the
probability of the second of two classes. Everything else is printed as it is,
by the names of the outputs: several sigmoids, regressions, maps, several
outputs. All formats write the same values.

   bnctl predict cifar.bnm cat.jpg dog.png
   bnctl predict cifar.bnm photos/ archive.zip --top 3 --devices 2xcpu
   bnctl predict glyphs.bnm glyphs:10 --json
   bnctl predict resnet18.pth cat.jpg --preprocess imagenet
   bnctl predict glyphs.bnm x.npy --logits --format npy > logits.npy
   bnctl predict detector.onnx x.npy --format npy -o y.npy     # y.scores.npy, y.boxes.npy
   bnctl predict detector.onnx x.npy --json --only boxes
   bnctl predict classifier.onnx cat.jpg --task classify --preprocess imagenet`,
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: "top", Value: 5, Usage: "the `K` best classes of each input"},
			&cli.BoolFlag{Name: "logits", Usage: "the outputs of the model as they are, not classes"},
			&cli.StringFlag{Name: "task", Usage: "classify: the output are logits of classes, though nothing says so"},
			&cli.StringFlag{Name: "only", Usage: "`NAME,NAME`: write these outputs, in this order",
				DefaultText: "all"},
			&cli.StringFlag{Name: "format", Value: "table", Usage: "json, csv, table or npy"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, DefaultText: "standard output",
				Usage: "`FILE` to write; npy of several outputs: FILE.npy names one file for each, FILE.NAME.npy"},
		}, predictFlags()...),
		Action: predictAction,
	}
}

func predictAction(c *cli.Context) error {
	if c.NArg() < 2 {
		return misuse("predict needs MODEL and INPUT..., for example bnctl predict glyphs.bnm glyphs:10")
	}
	v, err := viewModel(c, c.Args().First())
	if err != nil {
		return modelComesFirst(c.Args().Slice(), err)
	}
	defer v.Close()
	if err := v.Blame(predictWith(c, v)); err != nil {
		return err
	}
	sick := doctor.Of(v.Model)
	warnOfSickness(outputOf(c), &sick, c.Args().First())
	return nil
}

// modelComesFirst adds to an error about what stands where the model should that
// a model stands further on.
func modelComesFirst(args []string, err error) error {
	for _, later := range args[1:] {
		if ending := strings.ToLower(filepath.Ext(later)); slices.Contains(modelEndings, ending) {
			return fmt.Errorf("%w; the model comes first: bnctl predict %s %s", err, later, args[0])
		}
	}
	return err
}

// modelEndings are endings of files that hold models, and no inputs.
var modelEndings = []string{".bnm", ".pth", ".pt", ".ckpt", ".onnx", ".safetensors", ".h5", ".keras",
	".caffemodel"}

// predictWith predicts all inputs of the command line.
func predictWith(c *cli.Context, v *modelfile.Viewed) error {
	var unopened []error
	o := data.Options{Split: data.Test, EXIF: v.Preprocess.EXIF,
		Array: modelfile.Arrays(v.Model, outputOf(c).note)}
	if c.String("format") != "npy" { // an array has a row for every input, so none is left out
		o.Unopened = func(err error) { unopened = append(unopened, err) }
	}
	src, err := data.OpenInputs(c.Args().Tail(), o)
	if err != nil {
		return err
	}
	defer src.Close()
	m, err := modelfile.Suited(v.Model, src.Info())
	if err != nil {
		return err
	}
	form, err := newPredictions(c, m, src.Info().Len)
	if err != nil {
		return err
	}
	p, err := openPredictor(c.Context, c, m, src.Info().Len)
	if err != nil {
		return err
	}
	defer p.Close()
	var bad []error
	err = form.write(c, nameWidth(src), func(w predictionWriter) error {
		// An array has a row for every input, so none is left out.
		r := predict.Reading{Workers: c.Int("workers"), GoOn: form.format != "npy", Sure: v.Verified}
		each := func(i int, outs []tensor.Tensor) error { return w.write(src.Name(i), outs) }
		if bad, err = p.All(c.Context, src, r, each); err != nil {
			return err
		}
		return w.end()
	})
	if err != nil {
		return err
	}
	return unreadable(append(unopened, bad...), src.Info().Len+len(unopened))
}
