package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/train"
	"github.com/bnctl/bnctl/train/job"
)

func trainCommand() *cli.Command {
	return &cli.Command{
		Name:  "train",
		Usage: "train a model over devices; write checkpoints and, at the end, the template",
		Description: `Trains over any devices. What comes out depends on the recipe alone: model,
data, seed, batch, replicas, batch norm and optimizer; never on devices,
threads or interruptions.

   bnctl train --model lenet-bn --data glyphs --val glyphs -o glyphs.bnm
   bnctl train --model resnet20 --data cifar10:cifar-10.tar.gz --val cifar10:cifar-10.tar.gz \
       --devices 2xcpu --epochs 30 --lr 0.1 --schedule cosine --augment cifar -o cifar.bnm
   bnctl train --resume cifar.bnc --devices 8xcpu`,
		Flags:  trainFlags(),
		Action: trainAction,
	}
}

func trainAction(c *cli.Context) error {
	if c.NArg() > 0 {
		return misuse("train takes no argument %q; data is given by --data", c.Args().First())
	}
	if err := applyRecipeFile(c); err != nil {
		return err
	}
	o := outputOf(c)
	t := &trainer{out: o,
		resumed: job.ResumedFrom(c.String("resume"), c.String("checkpoint"), c.String("output")),
		logDir:  c.String("log-dir"),
		config: train.Config{Workers: c.Int("workers"), LogEvery: c.Int("log-every"),
			CheckpointEvery: c.Int("checkpoint-every"), Recompute: c.String("recompute"),
			DeviceTimeout: time.Duration(c.Float64("device-timeout") * float64(time.Second))},
		goOn: func(checkpoint string) string { return goOn(c, checkpoint) }}
	return onRanks(c, o, func(ctx context.Context, p peers) error {
		k, err := job.ReadCheckpoint(ctx, p, t.resumed, c.String("resume") == "auto")
		if err != nil {
			return err
		}
		if err := checkTrainFlags(c, k != nil); err != nil {
			return err
		}
		options, err := trainOptions(c, k)
		if err != nil {
			return err
		}
		options.Peers, options.Checkpoint = p, c.String("checkpoint")
		return t.run(ctx, options)
	})
}

// checkTrainFlags refuses values of flags that mean nothing, before anything is read.
func checkTrainFlags(c *cli.Context, resumed bool) error {
	if n := c.Float64("device-timeout"); !(n >= 0.1 && n <= 86400) {
		return misuse("--device-timeout %g: want 0.1 to 86400 seconds", n)
	}
	err := cmp.Or(atLeast(c, 1, "epochs", "steps", "batch", "replicas", "checkpoint-every", "log-every"),
		atLeast(c, 0, "workers"))
	if err != nil {
		return err
	}
	if !resumed && c.String("data") == "" {
		return misuse("train needs --data, for example --data glyphs")
	}
	if !resumed || c.IsSet("model") {
		return nil
	}
	for _, flag := range []string{"classes", "preprocess", "mean", "std", "arch", "key", "drop", "rename", "labels"} {
		if c.IsSet(flag) {
			return misadvise("leave it off to go on with that of the checkpoint",
				"--%s says how a new model is made", flag)
		}
	}
	return nil
}

// trainOptions returns what the flags say of a run, new or resumed from k.
func trainOptions(c *cli.Context, k *serialize.Checkpoint) (o job.Options, err error) {
	o = job.Options{Model: c.String("model"), Resume: k, Overwrite: c.Bool("overwrite"),
		Paths:      train.Paths{Data: c.String("data"), Validation: c.String("val"), Output: c.String("output")},
		Recipe:     func(r *train.Recipe) error { return fromFlags(c, r, k != nil) },
		AnyKernels: c.IsSet("kernels"), Placement: c.String("placement")}
	if k != nil && !c.IsSet("model") {
		o.Model = ""
	}
	if k == nil && o.Paths.Output == "" {
		if o.Paths.Output, err = job.OutputBeside(o.Model); err != nil {
			return o, err
		}
	}
	if c.IsSet("skip-bad") {
		skip, err := skipBad(c)
		if err != nil {
			return o, err
		}
		o.SkipBad = &skip
	}
	o.Task = c.String("task")
	o.Start.Classes, o.Start.Init = c.Int("classes"), c.String("init")
	if o.Start.Options, err = modelOptions(c); err != nil {
		return o, err
	}
	o.Masks = maskOptions(c)
	o.EXIF, o.Interpolation = o.Start.Preprocess.EXIF, o.Start.Preprocess.Interpolation
	o.Fleet, err = fleetOptions(c, "", noLimit)
	return o, err
}

// goOn is the command that resumes the run of a checkpoint as it was started:
// with the flags that the checkpoint does not hold.
func goOn(c *cli.Context, checkpoint string) string {
	words := []string{"bnctl train --resume", job.Word(checkpoint)}
	held := []string{"data", "val", "output", "overwrite"}
	for _, f := range runFlags() {
		name := f.Names()[0]
		if !c.IsSet(name) || slices.Contains(held, name) {
			continue
		}
		if _, ok := f.(*cli.BoolFlag); ok {
			words = append(words, "--"+name)
			continue
		}
		value := fmt.Sprint(c.Value(name))
		if list, ok := c.Value(name).(cli.StringSlice); ok {
			value = strings.Join(list.Value(), ",")
		}
		words = append(words, "--"+name, job.Word(value))
	}
	return strings.Join(words, " ")
}
