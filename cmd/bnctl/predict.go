package main

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/detect"
	form "github.com/bnctl/bnctl/cmd/bnctl/internal/format"
	"github.com/bnctl/bnctl/predict"
)

func predictCommand() *cli.Command {
	return &cli.Command{
		Name:      "predict",
		Usage:     "a model's answers for images, folders, archives, .npy files or a data source",
		ArgsUsage: "MODEL INPUT...",
		Description: `Runs a template in eval mode. A prediction depends on the model and the input
alone: it is, bit for bit, what evaluation during training computed, whatever the
devices, the batch and the other inputs.

Pictures are resized, cropped and normalised by the model's preprocessing. An .npy
file holds pictures as uint8 [N,H,W,C], or numbers as float32 of the shape of the
model's input [N,C,H,W], which are not preprocessed again. Other types and
layouts are converted with a note, or refused where that would be a guess.

Classes with probabilities are printed where the model gives probabilities of
classes or logits: see docs/predict.md for the rule. One sigmoid unit is the
probability of the second of two classes. Everything else is printed as it is,
by the names of the outputs: several sigmoids, regressions, maps, several
outputs. All formats write the same values.

A data source is ` + sources + `.

   bnctl predict cifar.bnm cat.jpg dog.png
   bnctl predict cifar.bnm photos/ archive.zip --top 3 --devices 2xcpu
   bnctl predict cifar.bnm photos/ --format page -o answers   # answers/index.html
   bnctl predict glyphs.bnm glyphs:10 --json
   curl URL | bnctl predict cifar.bnm -
   bnctl predict resnet18.pth cat.jpg --preprocess imagenet
   bnctl predict glyphs.bnm x.npy --logits --format npy > logits.npy
   bnctl predict cells.bnm slide.jpg --draw drawn   # the boxes of a detector
   bnctl predict detector.onnx x.npy -o y.npy     # y.scores.npy, y.boxes.npy
   bnctl predict detector.onnx x.npy --json --only boxes
   bnctl predict resnet18.bnm photos/ --features avgpool -o embeddings.npy
   bnctl predict classifier.onnx cat.jpg --task classify --preprocess imagenet`,
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: "top", Value: 5, Usage: "the `K` best classes of each input"},
			&cli.BoolFlag{Name: "logits", Usage: "the outputs of the model as they are, not classes"},
			&cli.StringFlag{Name: "task", Usage: "classify: the outputs are logits of classes"},
			&cli.StringFlag{Name: "features", Usage: "`LAYER,LAYER`: write what these layers make, by their names " +
				"in inspect --text, not the outputs", DefaultText: "none"},
			&cli.StringFlag{Name: "only", Usage: "`NAME,NAME`: write these outputs, in this order",
				DefaultText: "all"},
			&cli.StringFlag{Name: "format", Value: "table",
				Usage:       "json, csv, table, npy, masks, overlays, probabilities or page; of a detector coco or yolo",
				DefaultText: "by the name of -o: .npy, .csv or .json, or table"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, DefaultText: "standard output",
				Usage: "`FILE` to write; npy of several outputs: FILE.NAME.npy for each; masks, overlays, " +
					"probabilities, page, yolo: a folder"},
		}, slices.Concat(detect.Flags(), fitFlags("scale for masks, overlays, probabilities"), predictFlags())...),
		Action: predictAction,
	}
}

func predictAction(c *cli.Context) error {
	if c.NArg() < 2 {
		return misuse("predict needs MODEL and INPUT..., for example bnctl predict glyphs.bnm glyphs:10")
	}
	p, err := predictOptions(c)
	if err != nil {
		return err
	}
	o := outputOf(c)
	return onRanks(c, o, func(ctx context.Context, ranks peers) error {
		p.options.Peers = ranks
		return p.run(ctx, o)
	})
}

// predictOptions returns the options that the flags set.
func predictOptions(c *cli.Context) (*prediction, error) {
	p := &prediction{path: c.Args().First(), inputs: c.Args().Tail(), workers: c.Int("workers"),
		output: c.String("output"), fit: c.String("fit"), whole: predict.Whole{Overlap: c.Float64("overlap")},
		answer: predict.AnswerOptions{Logits: c.Bool("logits"), Task: c.String("task"), Top: c.Int("top")}}
	if list := c.String("only"); list != "" {
		p.answer.Only = strings.Split(list, ",")
	}
	if list := c.String("features"); list != "" {
		p.inner, p.answer.Logits = strings.Split(list, ","), true
	}
	var err error
	if p.boxes, err = detect.ParseOptions(c); err != nil {
		return nil, err
	}
	if p.file, err = modelOptions(c); err != nil {
		return nil, err
	}
	if p.options, err = runOptions(c); err != nil {
		return nil, err
	}
	p.format, err = form.OfFlags(c)
	return p, err
}
