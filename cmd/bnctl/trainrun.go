package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/train"
)

// prepare settles model and recipe, but for the kernel class.
func (t *trainer) prepare(ctx context.Context) error {
	if t.checkpoint != nil {
		return t.prepareResume(ctx)
	}
	r := train.DefaultRecipe(t.c.String("model"))
	if err := fromFlags(t.c, r, false); err != nil {
		return err
	}
	start, err := t.newModel(r.Seed)
	if err != nil {
		return err
	}
	t.model, t.recipe = start.Model, r
	if err := train.Fits(t.model, t.data, t.val); err != nil {
		return err
	}
	t.tellOfModel(start)
	if r.SetModel(t.model); start.Weights != "" {
		r.Init = start.Weights
	}
	if r.EXIF, err = t.exif(); err != nil {
		return err
	}
	if t.decoder() == "" && !t.c.IsSet("exif") {
		r.EXIF = "" // it is about no file of this run
	}
	if t.paths.Output == "" {
		if t.paths.Output, err = outputBeside(t.c.String("model")); err != nil {
			return err
		}
	}
	return r.SetData(ctx, t.data, t.val)
}

// newModel makes the model of --model, with what it lacks drawn from a seed.
func (t *trainer) newModel(seed uint64) (*modelfile.Started, error) {
	o, err := t.startOptions(seed)
	if err != nil {
		return nil, err
	}
	start, err := modelfile.Start(t.c.String("model"), t.data.Info(), o)
	if err != nil {
		return nil, err
	}
	noteChoice(t.out, start.Choice)
	return start, nil
}

// startOptions says what the flags say of a new model.
func (t *trainer) startOptions(seed uint64) (modelfile.StartOptions, error) {
	o, err := modelOptions(t.c)
	return modelfile.StartOptions{Options: o, Classes: t.c.Int("classes"), Seed: seed,
		Init: t.c.String("init")}, err
}

// tellOfModel says where weights were taken from, and what became of classes.
func (t *trainer) tellOfModel(start *modelfile.Started) {
	classes := start.Labels
	if len(start.Was) > 0 && !slices.Equal(start.Was, classes) {
		t.out.note("the model was trained on the classes %s; from here on they are %s",
			models.ClassList(start.Was), models.ClassList(classes))
	}
	f := start.Graph.Main
	has := f.Values[f.Outputs[0].Value].Type.Shape[0]
	if has > len(classes) && !t.c.IsSet("classes") {
		t.out.note("the model tells %d classes apart, the data has %d; --classes %d makes a new head", has,
			len(classes), len(classes))
	}
	noteChoice(t.out, start.From)
	if start.Loaded != nil {
		t.out.note("%s: %v", t.c.String("init"), start.Loaded)
	}
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

// prepareResume takes the recipe of the checkpoint, with what the command line changes.
func (t *trainer) prepareResume(ctx context.Context) error {
	r, err := train.ParseRecipe(t.checkpoint.Recipe)
	if err != nil {
		return err
	}
	t.recipe = r
	if err := fromFlags(t.c, r, true); err != nil {
		return err
	}
	if err := t.modelOfFlags(r); err != nil {
		return err
	}
	if t.c.IsSet("interpolation") {
		filter, err := filterOf(t.c)
		if err != nil {
			return err
		}
		r.Interpolation = string(filter)
	}
	if t.c.IsSet("exif") {
		r.EXIF = t.c.String("exif")
	}
	return r.SetData(ctx, t.data, t.val)
}

// decoder returns the version of the decoder that makes the data's pixels; ""
// if none does.
func (t *trainer) decoder() string {
	version := t.data.Info().Decoder
	if version == "" && t.val != nil {
		version = t.val.Info().Decoder
	}
	return version
}

// modelOfFlags writes into the recipe of a resumed run which model the flags
// speak of, to be compared with that of the checkpoint.
func (t *trainer) modelOfFlags(r *train.Recipe) (err error) {
	if path := t.c.String("init"); path != "" {
		if r.Init, err = modelfile.Digest(path); err != nil {
			return err
		}
	}
	if !t.c.IsSet("model") {
		for _, flag := range []string{"classes", "preprocess", "mean", "std", "arch", "key", "drop"} {
			if t.c.IsSet(flag) {
				return misuse("--%s says how a new model is made; leave it off to go on with that of the checkpoint",
					flag)
			}
		}
		return nil
	}
	m, err := t.newModel(r.Seed)
	if err != nil {
		return err
	}
	scaled := r.Interpolation
	r.SetModel(m.Model)
	r.Interpolation = scaled // a flag of its own
	if m.Weights != "" {
		r.Init = m.Weights
	}
	return nil
}

// pathsOfCheckpoint fills in what the command line does not say from where
// the run was before.
func (t *trainer) pathsOfCheckpoint() error {
	was, err := train.PathsOf(t.checkpoint)
	if err != nil {
		return err
	}
	for _, p := range []struct {
		now *string
		was string
	}{{&t.paths.Data, was.Data}, {&t.paths.Validation, was.Validation}, {&t.paths.Output, was.Output}} {
		if *p.now == "" {
			*p.now = p.was
		}
	}
	return nil
}

// openDevices opens what --devices names and settles the kernel class.
func (t *trainer) openDevices(ctx context.Context) (err error) {
	if t.devices, err = openDevices(ctx, t.c, t.recipe.Precision, t.recipe.StepReplicas()); err != nil {
		return err
	}
	class := t.devices.kernels()
	if t.checkpoint != nil && t.recipe.Kernels != class && !t.c.IsSet("kernels") {
		return misuse("the checkpoint was trained with kernel class %s, these devices have %s, whose bits differ; "+
			"add --kernels %s to go on all the same", t.recipe.Kernels, class, class)
	}
	t.recipe.Kernels = class
	t.devices.tell(t.out)
	return nil
}

// session makes the run.
func (t *trainer) session(ctx context.Context) (*train.Session, error) {
	placement, err := placementOf(t.c, t.devices.Members, t.recipe.StepReplicas())
	if err != nil {
		return nil, err
	}
	events, err := t.shown(newProgress(t.out))
	if err != nil {
		return nil, err
	}
	config := train.Config{Train: t.data, Validation: t.val, Workers: t.c.Int("workers"),
		Fleet: t.devices, Placement: placement, BySpeed: t.c.String("placement") == bySpeed,
		DeviceTimeout: time.Duration(t.c.Float64("device-timeout") * float64(time.Second)),
		Checkpoint:    checkpointPath(t.c, t.paths.Output), CheckpointEvery: t.c.Int("checkpoint-every"),
		LogEvery: t.c.Int("log-every"), Paths: t.paths, Events: events,
		GoOn: t.goOn()}
	if t.checkpoint != nil {
		t.allowKernels()
		return train.Resume(ctx, t.checkpoint, t.recipe, config)
	}
	return train.New(ctx, t.recipe, t.model, config)
}

// allowKernels makes a change of kernel class that the user asked for part of the recipe.
func (t *trainer) allowKernels() {
	was, err := train.ParseRecipe(t.checkpoint.Recipe)
	if err == nil && t.c.IsSet("kernels") {
		was.Kernels = t.recipe.Kernels
		t.checkpoint.Recipe = was.JSON()
	}
}

// checkpointPath returns where checkpoints go: --checkpoint, or the template's name with .bnc.
func checkpointPath(c *cli.Context, output string) string {
	if p := c.String("checkpoint"); p != "" || output == "" {
		return p
	}
	return strings.TrimSuffix(output, filepath.Ext(output)) + ".bnc"
}
