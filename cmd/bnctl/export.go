package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/doctor"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/predict"
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
		}, fileFlags(), preprocessFlags(), runningFlags()),
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
	if err := notInput(c.String("output"), path); err != nil {
		return err
	}
	options, err := exportOptions(c)
	if err != nil {
		return err
	}
	file, err := modelOptions(c)
	if err != nil {
		return err
	}
	o := outputOf(c)
	opened, err := openModel(o, path, file)
	if err != nil {
		return err
	}
	m := opened.Model
	e := exported{Input: path, Output: c.String("output"), fold: c.Bool("fold-bn"), sick: doctor.Of(m),
		Proof: formats.NotFolded()}
	if e.fold {
		devices, err := fleetOptions(c, "", noLimit)
		if err != nil {
			return err
		}
		if m, e.Proof, err = formats.FoldProven(m, predict.Runner(c.Context, devices)); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if e.SHA256, err = formats.Export(e.Output, m, options); err != nil {
		return err
	}
	reportExport(o, m, &e, options.Format)
	return nil
}

// exportOptions says in which format the flags want the model.
func exportOptions(c *cli.Context) (formats.ExportOptions, error) {
	o := formats.ExportOptions{Format: c.String("to"), Opset: c.Int("opset")}
	if c.String("output") == "" || o.Format == "" {
		if err := wantEnding("export", c.String("output"), ".onnx", ".safetensors", ".pth", ".pt"); err != nil {
			return o, err
		}
		o.Format = formats.ExportFormat(c.String("output"))
	}
	switch o.Format {
	case "onnx":
		if o.Opset < formats.OldestOpset || o.Opset > formats.NewestOpset {
			return o, misuse("--opset %d: want %d to %d", o.Opset, formats.OldestOpset, formats.NewestOpset)
		}
	case "safetensors", "torch":
		if c.IsSet("opset") {
			return o, misuse("--opset is for ONNX, this writes %s", o.Format)
		}
	default:
		names := []string{"onnx", "safetensors", "torch"}
		return o, misuse("--to %q%s: want one of %s", o.Format, nearest(o.Format, names), strings.Join(names, ", "))
	}
	return o, nil
}
