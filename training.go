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

// TrainOptions say what Train trains, with which data and devices, and where it
// writes the template.
type TrainOptions struct {
	// Model is a name of the zoo ("lenet-bn", "resnet20"), a graph in text form, or
	// any model file, whose weights training starts from.
	Model string
	// Data is the data to train on, and Validation that for evaluation after
	// each epoch, as data.Open takes them: "glyphs", "cifar10:PATH",
	// "folder:PATH". Validation "": no evaluation.
	Data, Validation string
	// Output is the file of the template, NAME.bnm, Checkpoint that of the run's checkpoints,
	// NAME.bnc; "": not written. Both are locked while the run lasts. A checkpoint of
	// another recipe is not replaced unless Overwrite is set.
	Output, Checkpoint string
	Overwrite          bool
	// Recipe is the result of train.DefaultRecipe(Model), with changes; nil is the
	// default. Train does not change it: it adds model and data in a copy.
	Recipe *train.Recipe
	// Start says how the file Model is read, and the number of classes of a new
	// head. Its Seed is ignored: the recipe's counts.
	Start modelfile.StartOptions
	// Fleet names the devices. Its Precision and Most are ignored: the recipe's
	// count.
	Fleet  fleet.Options
	Events func(train.Event) // called with each event of the run; may be nil
}

// Train trains a model and returns the template. When ctx ends it finishes the
// current step, writes the checkpoint and returns the context's cause. The
// error for an invalid option is a *problem.Error, a *fleet.Unknown or a
// *modelfile.Unknown.
func Train(ctx context.Context, o TrainOptions) (*models.Model, error) {
	if o.Data == "" {
		return nil, problem.New("data", "", "there is nothing to train on", "name some, for example glyphs")
	}
	return o.train(ctx, nil, nil)
}

// TrainOn is Train with data of the program's own. val may be nil. o.Data and
// o.Validation are then only names of the data, kept in checkpoints.
func TrainOn(ctx context.Context, o TrainOptions, src, val data.Source) (*models.Model, error) {
	if src == nil {
		return nil, problem.New("data", "", "there is nothing to train on", "give a data.Source")
	}
	return o.train(ctx, src, val)
}

func (o *TrainOptions) train(ctx context.Context, src, val data.Source) (*models.Model, error) {
	j, err := job.Open(ctx, job.Options{Model: o.Model, Start: o.Start, Overwrite: o.Overwrite, Fleet: o.Fleet,
		Paths:      train.Paths{Data: o.Data, Validation: o.Validation, Output: o.Output},
		Checkpoint: o.Checkpoint,
		Source:     src, ValidationSource: val, Recipe: func(r *train.Recipe) error {
			if o.Recipe != nil {
				*r = *o.Recipe
			}
			return nil
		}})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	j.Config.Events = o.Events
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
