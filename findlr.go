package bnctl

import (
	"context"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/train"
)

// FindLR trains for a few steps at rising learning rates, as train.FindLR does. It is called in place of
// Train, and writes no files.
func (r *Run) FindLR(ctx context.Context) (*train.RateRange, error) {
	switch {
	case r.from != nil:
		return nil, problem.New("find-lr", "", "it is for a new run", "leave {resume} out")
	case r.o.Peers != nil:
		return nil, problem.New("find-lr", "", "it is not there over several ranks",
			"run it on one: the devices do not matter")
	case r.begun:
		return nil, problem.New("", "", "this run has trained already", "open another")
	}
	r.begun = true
	ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	p, err := r.Prepare(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.recipe.Check(); err != nil {
		return nil, err
	}
	if err := r.openDevices(ctx); err != nil {
		return nil, err
	}
	c, err := r.config()
	if err != nil {
		return nil, err
	}
	return train.FindLR(ctx, p.Recipe, p.Model, c)
}
