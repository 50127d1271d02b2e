package main

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/modelfile/strip"
)

func stripCommand() *cli.Command {
	return &cli.Command{
		Name:      "strip",
		Usage:     "make one clean file of any training checkpoint; list the removed parts",
		ArgsUsage: "CHECKPOINT... -o FILE",
		Description: `Removes the traces of training on many devices: replica connections, wrappers
(module. and others), optimizer tensors, averages, other sets of statistics. Of
several state dicts the one with a model's parameters is used, and named; --key
selects another. Weights do not change; weights that pruning or weight_norm store in
parts are put together. The extension of -o selects the form: .bnm is a template and
needs the architecture (found in the zoo, or --arch); .pth and .safetensors keep names,
order and types, without an architecture. Several checkpoints belong to the ranks of
one run.

   bnctl strip run.bnc -o model.bnm
   bnctl strip run.bnc --epoch best -o best.bnm
   bnctl strip checkpoint.pth -o clean.safetensors
   bnctl strip lightning.ckpt -o model.bnm --drop 'teacher.*'
   bnctl strip mmpretrain.pth -o model.bnm --rename 'backbone.(.*)=$1' --rename 'head.fc.(.*)=fc.$1'
   bnctl strip resnet20.th -o resnet20.bnm --preprocess imagenet
   bnctl strip rank0.pth rank1.pth -o model.pth --merge pooled`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"},
				Usage: "`FILE` to write: .bnm, .pth or .safetensors"},
			&cli.BoolFlag{Name: "ema",
				Usage: "use the average of the weights: the default for bnctl (--ema=false: as trained), not for others"},
			&cli.StringFlag{Name: "epoch", DefaultText: "the epoch of the run's template",
				Usage: "of a checkpoint of bnctl, use the weights of the last or the best `EPOCH`"},
			&cli.StringFlag{Name: "merge", Usage: "statistics of several ranks or replicas: pooled, mean or first"},
			labelsFlag(),
		}, fileFlags(), preprocessFlags()),
		Action: stripAction,
	}
}

func stripAction(c *cli.Context) error {
	o, err := stripOptions(c)
	if err != nil {
		return err
	}
	r, err := strip.Files(o)
	if err != nil {
		return orTensors(c.Context, err, o)
	}
	reportStrip(outputOf(c), r)
	return nil
}

// stripOptions returns the options that the flags set.
func stripOptions(c *cli.Context) (o strip.Options, err error) {
	o = strip.Options{Inputs: c.Args().Slice(), Output: c.String("output")}
	if c.NArg() == 0 {
		return o, misuse("strip needs CHECKPOINT: a training checkpoint, for example " +
			"bnctl strip run.bnc -o model.bnm")
	}
	if err := wantExtension("strip", o.Output, ".bnm", ".pth", ".pt", ".safetensors"); err != nil {
		return o, err
	}
	if !o.Template() {
		err := refuse(c, "only a template keeps it", "arch", "input", "size", "labels", "preprocess", "mean",
			"std", "exif", "interpolation")
		if err != nil {
			return o, err
		}
	}
	o.File, err = stripFileOptions(c)
	return o, err
}
