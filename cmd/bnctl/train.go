package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	if err := trainEndings(c.String("output"), c.String("checkpoint")); err != nil {
		return err
	}
	o := outputOf(c)
	t := &trainer{out: o, checkpoint: c.String("checkpoint"), resumed: resumedFrom(c),
		logDir: c.String("log-dir"),
		config: train.Config{Workers: c.Int("workers"), LogEvery: c.Int("log-every"),
			CheckpointEvery: c.Int("checkpoint-every"),
			DeviceTimeout:   time.Duration(c.Float64("device-timeout") * float64(time.Second))},
		goOn: func(checkpoint string) string { return goOn(c, checkpoint) }}
	k, err := checkpointToResume(t.resumed, c.String("resume") == "auto")
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
	return t.run(c.Context, options)
}

// checkpointToResume reads the checkpoint to resume; nil to start anew, as a
// run that starts or continues may do.
func checkpointToResume(path string, may bool) (*serialize.Checkpoint, error) {
	if path == "" {
		return nil, nil
	}
	if _, err := os.Stat(path); may && errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return serialize.ReadCheckpoint(path)
}

// resumedFrom returns the checkpoint that --resume means; "" without it.
func resumedFrom(c *cli.Context) string {
	if path := c.String("resume"); path != "auto" {
		return path
	}
	return checkpointBeside(c.String("checkpoint"), c.String("output"))
}

// checkpointBeside returns where checkpoints go: to the file of --checkpoint, or
// the template's name with .bnc.
func checkpointBeside(checkpoint, output string) string {
	if checkpoint != "" || output == "" {
		return checkpoint
	}
	return strings.TrimSuffix(output, filepath.Ext(output)) + ".bnc"
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
	for _, flag := range []string{"classes", "preprocess", "mean", "std", "arch", "key", "drop"} {
		if c.IsSet(flag) {
			return misuse("--%s says how a new model is made; leave it off to go on with that of the checkpoint", flag)
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
		if o.Paths.Output, err = outputBeside(o.Model); err != nil {
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
	o.Start.Classes, o.Start.Init = c.Int("classes"), c.String("init")
	if o.Start.Options, err = modelOptions(c); err != nil {
		return o, err
	}
	o.Masks = maskOptions(c)
	o.EXIF, o.Interpolation = o.Start.Preprocess.EXIF, o.Start.Preprocess.Interpolation
	o.Fleet, err = fleetOptions(c, "", noLimit)
	return o, err
}

// outputBeside returns where the template goes without -o: to a file in the
// present folder that is called like the model, but not to the model itself.
func outputBeside(model string) (string, error) {
	name := filepath.Base(model)
	path := strings.TrimSuffix(name, filepath.Ext(name)) + ".bnm"
	there, err1 := os.Stat(path)
	source, err2 := os.Stat(model)
	if err1 == nil && err2 == nil && os.SameFile(there, source) {
		return "", misuse("without -o the template would be written over --model %s; give it a name with -o", model)
	}
	return path, nil
}

// goOn is the command that resumes the run of a checkpoint as it was started:
// with the flags that the checkpoint does not hold.
func goOn(c *cli.Context, checkpoint string) string {
	words := []string{"bnctl train --resume", word(checkpoint)}
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
		words = append(words, "--"+name, word(value))
	}
	return strings.Join(words, " ")
}

// word quotes a word for a shell, if it needs it.
func word(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("0123456789_-./:,=+@%", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
