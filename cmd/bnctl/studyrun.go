package main

import (
	"context"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/study/experiment"
	"github.com/bnctl/bnctl/train"
)

// studyRun is one call of bnctl study bn.
type studyRun struct {
	out     *output
	run     bnctl.TrainOptions // what all runs have alike
	options experiment.Options
}

// again writes table, plots and page of what is there.
func (s *studyRun) again() error {
	r, err := experiment.Read(s.options.Folder)
	if err != nil {
		return err
	}
	return s.report(r)
}

// all prepares what all runs have alike, and makes them. recipe sets what the flags say of the
// recipe.
func (s *studyRun) all(ctx context.Context, recipe func(*train.Recipe) error) error {
	s.run.Observer = (&trainer{out: s.out}).observer(s.run)
	run, err := bnctl.Open(ctx, s.run)
	if err != nil {
		return err
	}
	defer run.Close()
	if err := recipe(run.Recipe()); err != nil {
		return err
	}
	p, err := run.Prepare(ctx)
	if err != nil {
		return err
	}
	o := &s.options
	o.Data, o.Validation, o.Recipe, o.Model = p.Data, p.Validation, p.Recipe, p.Model
	o.Found, o.Training, o.Note, o.Option = s.found, s.see, s.out.note, flag
	r, err := experiment.Run(ctx, *o)
	if err != nil {
		return err
	}
	return s.report(r)
}
