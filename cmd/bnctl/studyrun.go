package main

import (
	"context"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/study/experiment"
)

// studyRun is one run of the command study bn.
type studyRun struct {
	out     *output
	run     bnctl.TrainOptions // options that all runs have in common
	options experiment.Options
}

// repeat writes the table, the plots and the page of existing results, without new runs.
func (s *studyRun) repeat() error {
	r, err := experiment.Read(s.options.Folder)
	if err != nil {
		return err
	}
	return s.report(r)
}

// runAll prepares what all runs have in common, and makes the runs. change sets those fields of the recipe
// that the flags set.
func (s *studyRun) runAll(ctx context.Context, change recipeChange) error {
	s.run.Observer = &trainer{out: s.out, options: s.run}
	run, err := bnctl.Open(ctx, s.run)
	if err != nil {
		return err
	}
	defer run.Close()
	if err := change(run.Recipe()); err != nil {
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
