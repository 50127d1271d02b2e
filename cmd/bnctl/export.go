package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/modelfile/export"
)

func exportCommand() *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write a model for other programs: ONNX, safetensors, PyTorch",
		ArgsUsage: "MODEL -o FILE",
		Description: `Writes a template, or any model file, in the format that the ending of -o, or --to,
asks for. ONNX has graph and weights, in prediction, with an open batch axis. The
others have weights alone, under torchvision's names where the model is of the zoo.
--fold-bn makes every batch norm part of the layer before it, and runs both models
to show by how much they differ.

   bnctl export model.bnm -o model.onnx
   bnctl export model.bnm -o model.onnx --fold-bn --opset 15
   bnctl export detector.bnm -o detector.onnx --nms --box-score 0.25
   bnctl export model.bnm -o model.pth
   bnctl export model.h5 -o model.safetensors`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"},
				Usage: "`FILE` to write: .onnx, .safetensors or .pth"},
			&cli.StringFlag{Name: "to", Usage: "onnx, safetensors or torch, whatever the ending of -o"},
			&cli.BoolFlag{Name: "fold-bn", Usage: "make every batch norm part of the convolution or dense layer " +
				"before it"},
			&cli.IntFlag{Name: "opset", Value: formats.NewestOpset,
				Usage: fmt.Sprintf("operator set of ONNX: %d to %d", formats.OldestOpset, formats.NewestOpset)},
			suppressFlag(), labelsFlag(),
		}, limitFlags(), fileFlags(), preprocessFlags(), runningFlags()),
		Action: exportAction,
	}
}

func exportAction(c *cli.Context) error {
	path, err := oneArgument(c, "MODEL", "a template, or a model file of another program")
	if err != nil {
		return err
	}
	if err := onlyWith(c, "fold-bn", runningFlags()); err != nil {
		return err
	}
	options, err := exportOptions(c, path)
	if err != nil {
		return err
	}
	r, err := export.File(c.Context, options)
	if err != nil {
		return err
	}
	reportExport(outputOf(c), r)
	return nil
}

// exportOptions returns the options that the flags set.
func exportOptions(c *cli.Context, path string) (o export.Options, err error) {
	note := outputOf(c)
	o = export.Options{Input: path, Output: c.String("output"), Format: c.String("to"),
		FoldBN: c.Bool("fold-bn"), OnOpen: func(k *modelfile.Choice) { noteChoice(note, k) }}
	if err := atLeast(c, 1, "opset"); err != nil {
		return o, err
	}
	if c.IsSet("opset") {
		o.Opset = c.Int("opset")
	}
	if o.Output == "" || o.Format == "" {
		if err := wantExtension("export", o.Output, ".onnx", ".safetensors", ".pth", ".pt"); err != nil {
			return o, err
		}
	}
	if o.Suppress, err = parseSuppression(c); err != nil {
		return o, err
	}
	if o.File, err = modelOptions(c); err != nil {
		return o, err
	}
	o.Fleet, err = fleetOptions(c, "", noLimit)
	return o, err
}
