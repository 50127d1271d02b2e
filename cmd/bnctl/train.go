package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
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
	if err := trainEndings(c); err != nil {
		return err
	}
	o := outputOf(c)
	k, err := checkpointToResume(c)
	if err != nil {
		return err
	}
	t := &trainer{c: c, out: o, checkpoint: k}
	defer t.close()
	return t.run(c.Context)
}

// checkpointToResume reads what --resume names; nil to start anew.
func checkpointToResume(c *cli.Context) (*serialize.Checkpoint, error) {
	path := resumedFrom(c)
	if path == "" {
		return nil, nil
	}
	if _, err := os.Stat(path); c.String("resume") == "auto" && errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return serialize.ReadCheckpoint(path)
}

// resumedFrom returns the checkpoint that --resume means; "" without it.
func resumedFrom(c *cli.Context) string {
	if path := c.String("resume"); path != "auto" {
		return path
	}
	return checkpointPath(c, c.String("output"))
}

// trainer is one call of bnctl train.
type trainer struct {
	c          *cli.Context
	out        *output
	checkpoint *serialize.Checkpoint // to resume; nil
	paths      train.Paths
	data, val  data.Source
	devices    *deviceSet
	model      *models.Model
	recipe     *train.Recipe
	board      *train.Board // of --log-dir; nil
	release    func()       // the files that the run writes; nil
}

func (t *trainer) close() {
	t.closeBoard()
	for _, s := range []data.Source{t.data, t.val} {
		if s != nil {
			s.Close()
		}
	}
	if t.devices != nil {
		t.devices.Close()
	}
	if t.release != nil {
		t.release()
	}
}

func (t *trainer) run(ctx context.Context) error {
	if err := t.checkFlags(); err != nil {
		return err
	}
	if err := t.openData(); err != nil {
		return err
	}
	if err := t.prepare(ctx); err != nil {
		return err
	}
	if t.checkpoint == nil {
		if err := t.recipe.Check(); err != nil {
			return err
		}
		for _, idle := range t.recipe.Idle() {
			t.out.note("%v", asFlags(idle))
		}
	}
	if err := t.claim(); err != nil {
		return err
	}
	if err := t.openDevices(ctx); err != nil {
		return err
	}
	s, err := t.session(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	defer saving(ctx)()
	m, err := s.Run(ctx)
	if err != nil {
		return t.stopped(ctx, err)
	}
	return t.write(m, s)
}

// checkFlags refuses values of flags that mean nothing, before anything is read.
func (t *trainer) checkFlags() error {
	if n := t.c.Float64("device-timeout"); !(n >= 0.1 && n <= 86400) {
		return misuse("--device-timeout %g: want 0.1 to 86400 seconds", n)
	}
	return cmp.Or(atLeast(t.c, 1, "epochs", "steps", "batch", "replicas", "checkpoint-every", "log-every"),
		atLeast(t.c, 0, "workers"), inOrder(t.c.String("schedule")))
}

// openData opens the data of the flags, or of the checkpoint.
func (t *trainer) openData() (err error) {
	t.paths = train.Paths{Data: t.c.String("data"), Validation: t.c.String("val"), Output: t.c.String("output")}
	if t.checkpoint != nil {
		if err := t.pathsOfCheckpoint(); err != nil {
			return err
		}
	}
	if t.paths.Data == "" {
		return misuse("train needs --data, for example --data glyphs")
	}
	exif, err := t.exif()
	if err != nil {
		return err
	}
	skip, err := t.skip()
	if err != nil {
		return err
	}
	options := data.Options{Split: data.Train, EXIF: exif == data.ApplyEXIF, SkipBad: skip}
	if options.Array, err = t.arrays(); err != nil {
		return err
	}
	if t.data, err = data.Open(t.paths.Data, options); err != nil {
		return err
	}
	tellOfFiles(t.out, "--data", t.data.Info())
	if t.paths.Validation == "" {
		return nil
	}
	options.Split = data.Test
	if t.val, err = data.Open(t.paths.Validation, options); err != nil {
		return err
	}
	tellOfFiles(t.out, "--val", t.val.Info())
	return nil
}

// arrays returns what makes samples of the arrays of .npy files, for the model
// of the flags or of the checkpoint.
func (t *trainer) arrays() (func(name string, x tensor.Tensor) (tensor.Tensor, error), error) {
	if t.checkpoint != nil && !t.c.IsSet("model") {
		m, _, err := serialize.Strip(t.checkpoint)
		return modelfile.Arrays(m, t.out.note), err
	}
	o, err := t.startOptions(0)
	if err != nil {
		return nil, err
	}
	return modelfile.StartArrays(t.c.String("model"), o, t.out.note), nil
}

// exif returns whether picture files are turned as they say: what the flag
// says, else the checkpoint; a new recipe applies it.
func (t *trainer) exif() (string, error) {
	if how, err := exifOf(t.c); how != "" || err != nil {
		return how, err
	}
	if t.checkpoint == nil {
		return data.ApplyEXIF, nil
	}
	r, err := train.ParseRecipe(t.checkpoint.Recipe)
	if err != nil {
		return "", err
	}
	return r.EXIF, nil
}

// stopped says how to go on after a run that was told to stop.
func (t *trainer) stopped(ctx context.Context, err error) error {
	path := checkpointPath(t.c, t.paths.Output)
	if ctx.Err() != nil && err == context.Cause(ctx) && path != "" {
		return fmt.Errorf("%w; go on with %s", err, t.goOn())
	}
	return err
}

// goOn is the command that resumes the run as it was started: with the flags
// that its checkpoint does not hold.
func (t *trainer) goOn() string {
	words := []string{"bnctl train --resume", word(checkpointPath(t.c, t.paths.Output))}
	held := []string{"data", "val", "output", "overwrite"}
	for _, f := range runFlags() {
		name := f.Names()[0]
		if !t.c.IsSet(name) || slices.Contains(held, name) {
			continue
		}
		if _, ok := f.(*cli.BoolFlag); ok {
			words = append(words, "--"+name)
			continue
		}
		value := fmt.Sprint(t.c.Value(name))
		if list, ok := t.c.Value(name).(cli.StringSlice); ok {
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

// write writes the template.
func (t *trainer) write(m *models.Model, s *train.Session) error {
	sum, err := serialize.WriteModel(t.paths.Output, m)
	if err != nil {
		return err
	}
	done := s.Finished(t.paths.Output, sum)
	t.out.event(done.Event(), done)
	if done.Dropped > 0 {
		t.out.note("%d gradients that still waited after the last step are not applied", done.Dropped)
	}
	t.out.result("wrote %s  sha256 %s  (%s, %.1f s)", done.Model, done.SHA256, counted(done.Steps, "step"),
		done.Seconds)
	return nil
}
