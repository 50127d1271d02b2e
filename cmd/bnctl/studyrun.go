package main

import (
	"context"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/study/experiment"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/train/job"
)

// studyRun is one call of bnctl study bn.
type studyRun struct {
	out                 *output
	job                 job.Options // what all runs have alike
	options             experiment.Options
	samples, valSamples int // to draw; 0: all
}

// again writes table, plots and page of what is there.
func (s *studyRun) again() error {
	r, err := experiment.Read(s.options.Folder)
	if err != nil {
		return err
	}
	return s.report(r)
}

// run settles what all runs have alike, and makes them.
func (s *studyRun) run(ctx context.Context) error {
	s.job.Hear = (&trainer{out: s.out}).listener(s.job)
	j, err := job.Open(ctx, s.job)
	if err != nil {
		return err
	}
	defer j.Close()
	if j.Data, err = data.Subset(j.Data, s.samples, 0); err != nil {
		return misuse("--samples: %v", err)
	}
	if j.Validation, err = data.Subset(j.Validation, s.valSamples, 0); err != nil {
		return misuse("--val-samples: %v", err)
	}
	if err := j.Prepare(ctx); err != nil {
		return err
	}
	o := &s.options
	o.Data, o.Validation, o.Recipe, o.Model = j.Data, j.Validation, j.Recipe, j.Model
	o.Found, o.Training, o.Note, o.Option = s.found, s.see, s.out.note, flag
	r, err := experiment.Run(ctx, *o)
	if err != nil {
		return err
	}
	return s.report(r)
}
