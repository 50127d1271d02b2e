package main

import (
	"context"

	"github.com/bnctl/bnctl/internal/interrupt"
	"github.com/bnctl/bnctl/train"
	"github.com/bnctl/bnctl/train/job"
)

// train trains, shows how it goes, and writes the template.
func (t *trainer) train(ctx context.Context, j *job.Job) error {
	var err error
	j.Config = t.config
	j.Config.GoOn, j.Config.Option = t.goOn(j.Checkpoint), flag
	if j.Config.Events, err = t.shown(newProgress(t.out)); err != nil {
		return err
	}
	defer t.closeBoard()
	s, err := j.Start(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	defer interrupt.Saving(ctx)()
	m, err := s.Run(ctx)
	if err != nil {
		return t.stopped(ctx, j.Checkpoint, err)
	}
	sum, err := j.Write(ctx, m)
	if err != nil {
		return err
	}
	reportTrained(t.out, s.Finished(j.Paths.Output, sum))
	return nil
}

func reportTrained(o *output, done train.Finished) {
	o.event(done.Event(), done)
	if done.Dropped > 0 {
		o.note("%s that still waited after the last step %s not applied",
			counted(int(done.Dropped), "gradient"), are(int(done.Dropped)))
	}
	for _, l := range done.Lost {
		o.note("device %s was lost %s  %s", l.Device, counted(l.Times, "time"), l.Excluded)
	}
	o.result("wrote %s  sha256 %s  (%s, %.1f s)", done.Model, done.SHA256, counted(done.Steps, "step"),
		done.Seconds)
}
