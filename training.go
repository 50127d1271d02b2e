package bnctl

import (
	"context"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/train"
)

// TrainOptions say what Train trains, on what, and where the template goes.
type TrainOptions struct {
	// Model is a name of the zoo ("lenet-bn", "resnet20"), a graph in text form, or
	// any model file, whose weights training starts from.
	Model string
	// Data is what is trained on and Validation what is evaluated on after each
	// epoch, as data.Open takes it: "glyphs", "cifar10:PATH", "folder:PATH".
	// Validation "": nothing is.
	Data, Validation string
	// Output is the file of the template, Checkpoint that of the run's checkpoints;
	// "": not written. The checkpoint of another recipe is not written over, unless
	// Overwrite says so.
	Output, Checkpoint string
	Overwrite          bool
	// Recipe is train.DefaultRecipe(Model), changed; nil: as it is. Train fills in a
	// copy what it says of model and data.
	Recipe *train.Recipe
	// Start says what the file Model holds, and of how many classes a new head is.
	// Its Seed is the recipe's.
	Start modelfile.StartOptions
	// Fleet names the devices. Its Precision and Most are the recipe's.
	Fleet  fleet.Options
	Events func(train.Event) // hears how the run goes; nil: nobody does
}

// Train trains a model and returns the template. When ctx ends it finishes the
// step under way, writes the checkpoint and returns the cause of the end. What
// the options ask for and cannot be is a *problem.Error, a *fleet.Unknown or a
// *modelfile.Unknown.
func Train(ctx context.Context, o TrainOptions) (*models.Model, error) {
	src, val, err := o.open()
	if err != nil {
		return nil, err
	}
	defer closeAll(src, val)
	return TrainOn(ctx, o, src, val)
}

// TrainOn is Train for data that the program has, as a data.Source of its own:
// o.Data and o.Validation are words for it. val nil is no validation.
func TrainOn(ctx context.Context, o TrainOptions, src, val data.Source) (*models.Model, error) {
	release, err := serialize.Claim(o.Output, o.Checkpoint)
	if err != nil {
		return nil, err
	}
	defer release()
	r, m, err := o.prepare(ctx, src, val)
	if err != nil {
		return nil, err
	}
	o.Fleet.Precision, o.Fleet.Most = r.Precision, r.StepReplicas()
	f, err := fleet.Open(ctx, o.Fleet)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r.Kernels, _ = train.KernelClass(f.Members)
	s, err := train.New(ctx, r, m, train.Config{Train: src, Validation: val, Fleet: f, Events: o.Events,
		Checkpoint: o.Checkpoint, Paths: train.Paths{Data: o.Data, Validation: o.Validation, Output: o.Output}})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	template, err := s.Run(ctx)
	if err == nil && o.Output != "" {
		_, err = serialize.WriteModel(o.Output, template)
	}
	return template, err
}

// open opens the data; val is nil without validation.
func (o *TrainOptions) open() (src, val data.Source, err error) {
	if o.Data == "" {
		return nil, nil, problem.New("data", "", "there is nothing to train on", "name some, for example glyphs")
	}
	d := data.Options{Split: data.Train, EXIF: true, Array: modelfile.StartArrays(o.Model, o.Start, nil)}
	if src, err = data.Open(o.Data, d); err != nil || o.Validation == "" {
		return src, nil, err
	}
	d.Split = data.Test
	if val, err = data.Open(o.Validation, d); err != nil {
		closeAll(src)
		return nil, nil, err
	}
	return src, val, nil
}

// prepare makes the model and completes its recipe, and refuses what cannot be
// trained.
func (o *TrainOptions) prepare(ctx context.Context, src, val data.Source) (
	*train.Recipe, *models.Model, error) {
	if src == nil {
		return nil, nil, problem.New("data", "", "there is nothing to train on", "give a data.Source")
	}
	r := *train.DefaultRecipe(o.Model)
	if o.Recipe != nil {
		r = *o.Recipe
	}
	o.Start.Seed = r.Seed
	m, err := modelfile.Start(o.Model, src.Info(), o.Start)
	if err != nil {
		return nil, nil, err
	}
	if err := train.Fits(m.Model, src, val); err != nil {
		return nil, nil, err
	}
	if r.SetModel(m.Model); m.Weights != "" {
		r.Init = m.Weights
	}
	if err := r.SetData(ctx, src, val); err != nil {
		return nil, nil, err
	}
	if err := r.Check(); err != nil {
		return nil, nil, err
	}
	if !o.Overwrite {
		err = train.Replaceable(o.Checkpoint, &r)
	}
	return &r, m.Model, err
}

// closeAll closes the sources that there are. They were only read.
func closeAll(sources ...data.Source) {
	for _, s := range sources {
		if s != nil {
			_ = s.Close()
		}
	}
}
