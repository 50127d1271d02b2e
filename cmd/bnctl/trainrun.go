package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/serialize"
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
	t.model = start.Model
	if err := t.fits(); err != nil {
		return err
	}
	r.Model = t.model.Architecture // of a file's graph: its name, not the file's
	t.relabel(start, t.data.Info().Classes)
	if r.Init = start.Weights; r.Init == "" {
		if err := t.initialise(r); err != nil {
			return err
		}
	}
	r.Graph = digest(t.model.Graph.Text())
	t.recipe = r
	if err := t.readAs(); err != nil {
		return err
	}
	if t.paths.Output == "" {
		if t.paths.Output, err = outputBeside(t.c.String("model")); err != nil {
			return err
		}
	}
	return t.fingerprints(ctx)
}

// newModel makes the model of --model with a head drawn from a seed.
func (t *trainer) newModel(seed uint64) (*modelfile.Started, error) {
	o, err := t.startOptions(seed)
	if err != nil {
		return nil, err
	}
	start, err := modelfile.Start(t.c.String("model"), t.data.Info(), o)
	if err == nil {
		noteChoice(t.out, start.Choice)
	}
	return start, err
}

// startOptions says what the flags say of a new model.
func (t *trainer) startOptions(seed uint64) (modelfile.StartOptions, error) {
	o, err := modelOptions(t.c)
	return modelfile.StartOptions{Options: o, Classes: t.c.Int("classes"), Seed: seed,
		Init: t.c.String("init")}, err
}

// relabel gives the model the classes of the data, and says so if it was
// trained on others.
func (t *trainer) relabel(start *modelfile.Started, classes []string) {
	if was := t.model.Labels; len(was) > 0 && !slices.Equal(was, classes) {
		t.out.note("the model was trained on the classes %s; from here on they are %s", predict.ClassList(was),
			predict.ClassList(classes))
	}
	f := t.model.Graph.Main
	has := f.Values[f.Outputs[0].Value].Type.Shape[0]
	if has > len(classes) && !t.c.IsSet("classes") {
		t.out.note("the model tells %d classes apart, the data has %d; --classes %d makes a new head", has,
			len(classes), len(classes))
	}
	t.model.Labels = classes
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

// fits refuses data that the model cannot be trained or evaluated on.
func (t *trainer) fits() error {
	for _, src := range []data.Source{t.data, t.val} {
		if src == nil {
			continue
		}
		if err := train.Fits(t.model, src.Info()); err != nil {
			return err
		}
	}
	return nil
}

// initialise draws the weights of a new model, and takes those that the file of
// --init has.
func (t *trainer) initialise(r *train.Recipe) error {
	if err := models.Init(t.model, r.Seed); err != nil {
		return err
	}
	path := t.c.String("init")
	if path == "" {
		if r.BN == bn.Frozen {
			return misuse("--bn frozen normalises with running statistics, and a new model has none; add --init FILE")
		}
		if err := without(t.c, "it is about a file of weights", "key", "drop", "input"); err != nil {
			return err
		}
		r.Init = "seed"
		return nil
	}
	o, err := modelOptions(t.c)
	if err != nil {
		return err
	}
	from, choice, err := modelfile.State(path, o, t.model)
	if err != nil {
		return err
	}
	noteChoice(t.out, choice)
	loaded, err := models.InitFrom(t.model, from)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	t.out.note("%s: %v", path, loaded)
	r.Init, err = modelfile.Digest(path)
	return err
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
	return t.fingerprints(ctx)
}

// readAs writes into recipe and template how picture files become pixels. Data
// of other kinds leaves both as they are, but for what a flag says.
func (t *trainer) readAs() error {
	exif, err := t.exif()
	if err != nil {
		return err
	}
	if t.decoder() != "" || t.c.IsSet("exif") {
		t.recipe.EXIF = exif
	}
	if t.decoder() != "" {
		t.model.Preprocess.EXIF = exif == modelfile.ApplyEXIF
	}
	t.recipe.Interpolation = t.model.Preprocess.Interpolation
	return nil
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
	r.Model, r.Graph = m.Architecture, digest(m.Graph.Text())
	if m.Weights != "" {
		r.Init = m.Weights
	}
	return nil
}

// fingerprints writes into the recipe which data it is about.
func (t *trainer) fingerprints(ctx context.Context) (err error) {
	if t.recipe.Data, err = identify(ctx, t.data); err != nil {
		return err
	}
	t.recipe.Decoder = t.decoder()
	t.recipe.Validation = train.Data{}
	if t.val != nil {
		t.recipe.Validation, err = identify(ctx, t.val)
	}
	return err
}

func identify(ctx context.Context, s data.Source) (train.Data, error) {
	info := s.Info()
	sum, err := s.Fingerprint(ctx)
	return train.Data{Kind: info.Kind, Split: string(info.Split), Samples: info.Len, Classes: len(info.Classes),
		Fingerprint: sum, Skipped: len(info.Skipped)}, err
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
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
	augment, err := data.ParseAugment(t.recipe.Augment)
	if err != nil {
		return nil, misuse("--augment: %v", err)
	}
	placement, err := placementOf(t.c, t.devices.Members, t.recipe.StepReplicas())
	if err != nil {
		return nil, err
	}
	events, err := t.shown(newProgress(t.out))
	if err != nil {
		return nil, err
	}
	config := train.Config{Train: t.data, Validation: t.val, Workers: t.c.Int("workers"),
		Devices: t.devices.Members, Placement: placement, BySpeed: t.c.String("placement") == bySpeed,
		Reopen: t.devices.Reopen, Rendezvous: remote.Rendezvous{},
		DeviceTimeout: time.Duration(t.c.Float64("device-timeout") * float64(time.Second)),
		Checkpoint:    checkpointPath(t.c, t.paths.Output), CheckpointEvery: t.c.Int("checkpoint-every"),
		LogEvery: t.c.Int("log-every"), Paths: t.paths, Events: events,
		GoOn: t.goOn()}
	if t.checkpoint != nil {
		m, _, err := serialize.Strip(t.checkpoint)
		if err != nil {
			return nil, err
		}
		t.model = m
	}
	config.Transform = modelfile.Transform(t.model, t.data.Info())
	config.Transform.Augment = augment
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
