package main

import (
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/commandline"
	"github.com/bnctl/bnctl/modelfile"
)

// fileFlags are flags that select the model in a file of another program.
func fileFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "arch",
			Usage: "`NAME` of the zoo, a graph file, .onnx, Keras .json or deploy.prototxt: the graph in a file"},
		&cli.StringFlag{Name: "key", Usage: "`NAME` of the state dict in a PyTorch checkpoint"},
		&cli.StringFlag{Name: "input",
			Usage: "`C,H,W`: how large the input is, where the graph in a file leaves that open; " +
				"of several inputs NAME=C,H,W,NAME=C,H,W"},
		&cli.StringFlag{Name: "qdq", Usage: "bytes or float: how ONNX in QDQ form runs", DefaultText: "bytes"},
		sizeFlag("of a network that supports several"),
		&cli.StringSliceFlag{Name: "drop",
			Usage: "leave out tensors that match `PATTERN` ('criterion.*'), of a file of mere tensors; repeated"},
		&cli.StringSliceFlag{Name: "rename",
			Usage: "`REGEX=NAME`: other names for the tensors that it matches ('backbone.(.*)=$1'); repeated"},
	}
}

// preprocessFlags are flags that determine how pictures become the input, if the model does not say.
func preprocessFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "preprocess",
			Usage: "imagenet, unit, raw or caffe: how pixels become the model's input; none: unknown"},
		&cli.StringFlag{Name: "mean", Usage: "`R,G,B` to subtract, in units of x/255 (0 to 1); " +
			"with raw and caffe (B,G,R) of pixels (0 to 255)"},
		&cli.StringFlag{Name: "std", Usage: "`R,G,B` to divide by, in the units of --mean"},
		exifFlag("train applies it; otherwise as the model was trained"),
		&cli.StringFlag{Name: "interpolation", Usage: "bilinear or bicubic: how pictures are resized",
			DefaultText: "as in the model, or bilinear"},
	}
}

// labelsFlag is the flag with the names of the classes, for a model that does not have them.
func labelsFlag() cli.Flag {
	return &cli.StringFlag{Name: "labels", Usage: "names of the model's classes, in their order: `A,B,C`, or " +
		"a file with one on a line"}
}

// modelOptions returns the options for reading the file of a model that the flags set.
func modelOptions(c *cli.Context) (modelfile.Options, error) {
	o := modelfile.Options{Arch: c.String("arch"), Key: c.String("key"), Drop: c.StringSlice("drop"),
		Rename: c.StringSlice("rename"), QDQ: c.String("qdq"), Boxes: c.String("boxes"), Option: flag}
	var err error
	if o.Input, o.Inputs, err = commandline.Shapes(c, "input"); err == nil {
		o.Size, err = sizeOf(c)
	}
	if err != nil {
		return o, err
	}
	if c.IsSet("labels") {
		if o.Labels, err = modelfile.ReadLabels(c.String("labels")); err != nil {
			return o, fmt.Errorf("--labels: %w", err)
		}
	}
	if o.Preprocess, err = preprocessOptions(c); err != nil {
		return o, err
	}
	return o, completeWeights(c, &o)
}

// stripFileOptions is like modelOptions, with the additional flags of the command strip.
func stripFileOptions(c *cli.Context) (modelfile.Options, error) {
	o, err := modelOptions(c)
	if err != nil {
		return o, err
	}
	o.EMA, o.Trained, o.Epoch = c.Bool("ema"), c.IsSet("ema") && !c.Bool("ema"), c.String("epoch")
	if rule := c.String("merge"); rule != "" {
		if o.Merge, err = bn.ParseRule(rule); err != nil {
			return o, misuse("--merge: %v", err)
		}
	}
	return o, nil
}

// preprocessOptions returns the options for pictures that the flags set.
func preprocessOptions(c *cli.Context) (p modelfile.Preprocess, err error) {
	p.Name = c.String("preprocess")
	if p.Mean, err = numbers(c, "mean"); err != nil {
		return p, err
	}
	if p.Std, err = numbers(c, "std"); err != nil {
		return p, err
	}
	p.EXIF, p.Interpolation = c.String("exif"), c.String("interpolation")
	return p, p.Check()
}

// numbers reads a flag with a list of numbers. It returns nil if the flag is not given.
func numbers(c *cli.Context, flag string) ([]float64, error) {
	return list(c, flag, "not a number", func(text string) (float64, bool) {
		v, err := strconv.ParseFloat(text, 64)
		return v, err == nil
	})
}
