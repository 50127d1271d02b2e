package bnctl

import (
	"context"
	"math"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize"
)

// Resumes reports whether Open will continue from a checkpoint: whether Resume names one,
// or is "auto" and the checkpoint exists. All ranks get the answer of rank 0.
func (o *TrainOptions) Resumes(ctx context.Context) (bool, error) {
	if o.Resume != auto {
		return o.Resume != "", nil
	}
	if o.Peers == nil {
		return regular.Exists(o.resumePath())
	}
	var mine []byte
	if o.Peers.Rank() == 0 {
		there, err := regular.Exists(o.resumePath())
		if err != nil {
			return false, err
		}
		if there {
			mine = []byte{1}
		}
	}
	b, err := o.Peers.Broadcast(ctx, mine)
	return len(b) > 0, err
}

// resume reads the checkpoint to continue from, and completes the options from it.
func (r *Run) resume(ctx context.Context) (err error) {
	if r.o.Resume != "" {
		r.doing("reading the checkpoint")
	}
	if r.from, err = r.readCheckpoint(ctx); err != nil {
		return err
	}
	r.paths = progress.Paths{Data: r.o.Data, Validation: r.o.Validation, Output: r.o.Output}
	r.recipe = recipe.Default(r.o.Model)
	r.recipe.TrainTensors = r.o.Start.TrainTensors
	if r.from != nil {
		err = r.takeCheckpoint()
	}
	r.checkpoint = checkpointPath(r.o.Checkpoint, r.paths.Output)
	return err
}

// takeCheckpoint copies the paths and the recipe of the checkpoint.
func (r *Run) takeCheckpoint() (err error) {
	if r.previous, err = recipe.Parse(r.from.Recipe); err != nil {
		return err
	}
	rest := *r.previous
	if !rest.Numbered() {
		rest.Release = recipe.Release // the remaining steps are computed by this release
	}
	if r.recipe = &rest; !r.o.AnyKernels {
		if err := rest.CheckNumbers(); err != nil {
			return problem.Wrap("resume", err)
		}
	}
	settings, err := progress.SettingsOf(r.from)
	if err != nil {
		return err
	}
	r.o.takeSettings(settings)
	r.notify(Resumed{&r.o})
	was, err := progress.PathsOf(r.from)
	if err != nil {
		return err
	}
	for _, p := range []struct {
		now *string
		was string
	}{{&r.paths.Data, was.Data}, {&r.paths.Validation, was.Validation}, {&r.paths.Output, was.Output}} {
		if *p.now == "" {
			*p.now = p.was
		}
	}
	return nil
}

// readCheckpoint reads the checkpoint to continue from. It returns nil in a new run. With
// several ranks only rank 0 reads the file, and sends it to the others.
func (r *Run) readCheckpoint(ctx context.Context) (*serialize.Checkpoint, error) {
	path, peers := r.o.resumePath(), r.o.Peers
	there := path != ""
	if there && r.o.Resume == auto {
		var err error
		if there, err = regular.Exists(path); err != nil {
			return nil, err
		}
	}
	if r.o.Resume == "" || peers == nil && !there {
		return nil, nil
	}
	if peers == nil {
		return serialize.ReadCheckpoint(path)
	}
	var mine []byte
	if peers.Rank() == 0 && there {
		_, err := serialize.ReadCheckpoint(path)
		if err == nil {
			mine, err = regular.Read(path, math.MaxInt64-1)
		}
		if err != nil {
			return nil, err
		}
	}
	b, err := peers.Broadcast(ctx, mine)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	return serialize.ParseCheckpoint("the checkpoint of rank 0", b)
}
