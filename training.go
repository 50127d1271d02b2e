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
	"github.com/bnctl/bnctl/train/job"
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
	if o.Data == "" {
		return nil, problem.New("data", "", "there is nothing to train on", "name some, for example glyphs")
	}
	return o.train(ctx, nil, nil)
}

// TrainOn is Train for data that the program has, as a data.Source of its own:
// o.Data and o.Validation are words for it. val nil is no validation.
func TrainOn(ctx context.Context, o TrainOptions, src, val data.Source) (*models.Model, error) {
	if src == nil {
		return nil, problem.New("data", "", "there is nothing to train on", "give a data.Source")
	}
	return o.train(ctx, src, val)
}

func (o *TrainOptions) train(ctx context.Context, src, val data.Source) (*models.Model, error) {
	j, err := job.Open(ctx, job.Options{Model: o.Model, Start: o.Start, Overwrite: o.Overwrite, Fleet: o.Fleet,
		Paths:  train.Paths{Data: o.Data, Validation: o.Validation, Output: o.Output},
		Source: src, ValidationSource: val, Recipe: func(r *train.Recipe) error {
			if o.Recipe != nil {
				*r = *o.Recipe
			}
			return nil
		}})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	j.Checkpoint, j.Config.Events = o.Checkpoint, o.Events
	if err := j.Prepare(ctx); err != nil {
		return nil, err
	}
	if err := j.Claim(""); err != nil {
		return nil, err
	}
	if err := j.OpenDevices(ctx); err != nil {
		return nil, err
	}
	s, err := j.Start(ctx)
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
