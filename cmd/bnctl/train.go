package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/recipe"
)

func trainCommand() *cli.Command {
	return &cli.Command{
		Name:  "train",
		Usage: "train a model over devices; write checkpoints and, at the end, the template",
		Description: `Trains over any devices. The result depends on the recipe alone: model,
data, seed, batch, replicas, batch norm and optimizer; never on devices,
threads or interruptions.

   bnctl train --model lenet-bn --data glyphs --val glyphs -o glyphs.bnm
   bnctl train --model resnet20 --data cifar10:cifar-10.tar.gz --val cifar10:cifar-10.tar.gz \
       --devices 2xcpu --epochs 30 --lr 0.1 --schedule cosine --augment cifar -o cifar.bnm
   bnctl train --preset photos --data folder:photos -o photos.bnm
   bnctl train --preset photos --print-recipe >photos.yaml     then --recipe photos.yaml
   bnctl train --resume cifar.bnc --devices 8xcpu`,
		Flags:  trainFlags(),
		Action: trainAction,
	}
}

func trainAction(c *cli.Context) error {
	if c.NArg() > 0 {
		return misuse("train accepts no argument %q; data is given by --data", c.Args().First())
	}
	preset, err := applyRecipeFile(c)
	if err != nil {
		return err
	}
	if c.Bool("print-recipe") {
		return printRecipe(c, preset)
	}
	o := outputOf(c)
	return onRanks(c, o, func(ctx context.Context, p peers) error {
		options := runFiles(c)
		options.Peers = p
		resumed, err := options.Resumes(ctx)
		if err != nil {
			return err
		}
		if err := checkTrainFlags(c, resumed); err != nil {
			return err
		}
		if options, err = trainOptions(c, resumed); err != nil {
			return err
		}
		options.Peers = p
		t := &trainer{out: o, view: askedFor(c, "view"), findLR: c.Bool("find-lr")}
		if t.statement, err = statementFlags(c, p, resumed); err != nil {
			return err
		}
		return t.run(ctx, options, func(r *recipe.Recipe) error { return fromFlags(c, r, resumed) })
	})
}

// checkTrainFlags returns an error if a flag has an invalid value. It is called before any file is read.
func checkTrainFlags(c *cli.Context, resumed bool) error {
	if n := c.Float64("device-timeout"); !(n >= 0.1 && n <= 86400) {
		return misuse("--device-timeout %g: want 0.1 to 86400 seconds", n)
	}
	if p := c.Float64("audit"); !(p >= 0 && p <= 1) {
		return misuse("--audit %g: want 0 to 1", p)
	} else if p > 0 && !namesMachines(c) {
		return misadvise("name them in --devices or --devices-file", "--audit is for devices of other machines")
	}
	err := cmp.Or(atLeast(c, 1, "epochs", "steps", "batch", "replicas", "checkpoint-every", "log-every"),
		atLeast(c, 0, "workers"))
	if err != nil {
		return err
	}
	if !resumed && c.String("data") == "" {
		return misuse("train needs --data, for example --data glyphs")
	}
	if d := c.String("log-dir"); regular.RemoteOf(d) != nil {
		return misadvise("name a folder of this machine; bnctl report DIR -o URL writes the page elsewhere",
			"--log-dir %s is on another machine", regular.RemoteOf(d).Name(d))
	}
	if o := c.String("output"); strings.HasPrefix(o, "oci://") && strings.Contains(o, "#") {
		return misadvise("write for example oci://ghcr.io/me/net:v1.bnm: each file then has a tag",
			"-o %s names a file of a tag, which the checkpoint and the chain would replace", o)
	}
	return checkPreset(c, resumed)
}

// trainOptions returns the options that the flags set for a run, new or resumed.
func trainOptions(c *cli.Context, resumed bool) (o bnctl.TrainOptions, err error) {
	files := runFiles(c)
	o = bnctl.TrainOptions{Data: c.String("data"), Validation: c.String("val"), Output: files.Output,
		Checkpoint: files.Checkpoint, CheckpointEvery: c.Int("checkpoint-every"),
		Overwrite: c.Bool("overwrite"), AnyKernels: c.IsSet("kernels"), Placement: c.String("placement"),
		Workers: c.Int("workers"), Audit: c.Float64("audit"), LogDir: c.String("log-dir"),
		SkipBad: c.String("skip-bad"), Masks: maskOptions(c), Columns: c.String("csv-columns"),
		Task:          c.String("task"),
		ValSplit:      data.Holdout{Seed: c.Uint64("split-seed"), Groups: c.String("split-groups")},
		ResumeCommand: func(checkpoint string) string { return resumeCommand(c, checkpoint) }}
	use := func(flag string) bool { return !resumed || c.IsSet(flag) } // otherwise the checkpoint has the value
	if use("model") {
		o.Model = c.String("model")
	}
	if use("recompute") {
		o.Recompute = c.String("recompute")
	}
	if use("log-every") {
		o.LogEvery = c.Int("log-every")
	}
	if use("device-timeout") {
		o.DeviceTimeout = time.Duration(c.Float64("device-timeout") * float64(time.Second))
	}
	if resumed {
		o.Resume = files.Resume
	} else if o.Output == "" {
		if o.Output, err = defaultOutput(o.Model); err != nil {
			return o, err
		}
	}
	o.Start.Classes, o.Start.Init = c.Int("classes"), c.String("init")
	o.Start.TrainTensors = c.StringSlice("train-tensors")
	stages, divided, err := plannedStages(c)
	if err != nil {
		return o, err
	}
	o.Stages, o.Plan, o.Copies = stages, divided != nil, true
	if o.Start.Options, err = modelOptions(c); err == nil {
		o.Fleet, err = fleetOptions(c, "", noLimit)
	}
	err = cmp.Or(o.ValSplit.ParseFraction(c.String("val-split")), err)
	return o, err
}
