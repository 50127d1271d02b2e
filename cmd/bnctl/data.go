package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/boxes"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models/fit"
)

// sources is the list of the kinds of data sources for the help. sourceIs is the beginning of the help of
// commands that have a data source as argument.
var (
	sources  = data.Kinds()
	sourceIs = "SRC is " + sources + ".\n\n"
)

func dataCommand() *cli.Command {
	return &cli.Command{
		Name:  "data",
		Usage: "the contents of a data source",
		Description: `   bnctl data info cifar10:cifar-10.tar.gz@test
   bnctl data show glyphs -o grid.png`,
		Subcommands: []*cli.Command{
			{Name: "info", Usage: "samples, classes, sizes, mean and deviation; reads everything", ArgsUsage: "SRC",
				Description: sourceIs + `   bnctl data info glyphs
   bnctl data info folder:photos --json
   bnctl data info folder:photos --skip-bad all
   bnctl data info masks:photos,masks --mask-values 0,255
   bnctl data info coco:instances.json`, Flags: dataFlags(), Action: dataInfo},
			{Name: "mean-std", ArgsUsage: "SRC",
				Usage:       "mean and deviation of pictures, for --mean and --std of train; reads everything",
				Description: sourceIs + `   bnctl data mean-std folder:photos@train`,
				Flags:       dataFlags(), Action: dataMeanStd},
			{Name: "show", Usage: "draw the first samples into one picture", ArgsUsage: "SRC",
				Description: sourceIs + `   bnctl data show glyphs -o grid.png
   bnctl data show cifar10:cifar-10.tar.gz -o grid.png --count 100 --columns 10
   bnctl data show folder:photos --augment 'resizedcrop flip jitter' -o grid.png`,
				Flags: append(dataFlags(),
					&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write: .png"},
					&cli.IntFlag{Name: "count", Value: 64, Usage: "samples"},
					&cli.IntFlag{Name: "columns", Value: 8, Usage: "samples in a row"},
					&cli.IntFlag{Name: "side", Value: 64, Usage: "pixels of the longer side of a sample"},
					&cli.StringFlag{Name: "augment", DefaultText: "the first samples, as they are",
						Usage: "draw what train --augment sees first, with labels"},
					&cli.Uint64Flag{Name: "seed", Usage: "of --augment, as in train"},
				), Action: dataShow},
			boxes.EvalCommand(boxesOutput),
		},
	}
}

// dataFlags are the flags for a data source that is read without a model: sourceFlags, and the flag for the
// EXIF orientation of pictures, which has the same default as in a new training.
func dataFlags() []cli.Flag { return append(sourceFlags(), exifFlag("apply, as train does")) }

// openOne opens the only argument as a data source.
func openOne(c *cli.Context,
	open func(context.Context, string, data.Options) (data.Source, error)) (data.Source, error) {
	spec, err := oneArgument(c, "SRC", sources)
	if err != nil {
		return nil, err
	}
	options, err := sourceOptions(c, data.Train)
	if err != nil {
		return nil, err
	}
	p, err := preprocessOptions(c)
	if err != nil {
		return nil, err
	}
	options.EXIF, options.Array = p.EXIF != data.IgnoreEXIF, fit.LikelyArrays(outputOf(c).note)
	return open(c.Context, spec, options)
}

func boxesOutput(c *cli.Context) boxes.Output { return outputOfBoxes(outputOf(c)) }

func outputOfBoxes(o *output) boxes.Output {
	return boxes.Output{Result: o.result, Note: o.noteOptions, Event: o.event}
}

func dataInfo(c *cli.Context) error {
	if done, err := boxes.Info(c, boxesOutput(c)); done {
		return err
	}
	src, err := openOne(c, data.OpenAll)
	if err != nil {
		return err
	}
	defer src.Close()
	r, err := data.Survey(c.Context, src)
	if err != nil {
		return err
	}
	o := outputOf(c)
	reportData(o, r)
	o.notes("data info", append(src.Info().Notes(), r.Copies.Notes("in another part too")...))
	return nil
}

// dataMeanStd prints the result of data.Describe as flags for train.
func dataMeanStd(c *cli.Context) error {
	src, err := openOne(c, openAny)
	if err != nil {
		return err
	}
	defer src.Close()
	s, err := data.DescribePictures(c.Context, src)
	if err == nil {
		reportMeanStd(outputOf(c), s)
	}
	return err
}
