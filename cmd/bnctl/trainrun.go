package main

import (
	"context"
	"errors"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/train"
	"github.com/bnctl/bnctl/train/job"
)

// trainer is one call of bnctl train.
type trainer struct {
	out     *output
	resumed string                         // file to resume from; ""
	logDir  string                         // for TensorBoard; ""
	goOn    func(checkpoint string) string // the command that goes on with the run
	config  train.Config
	board   *train.Board // of logDir; nil
}

func (t *trainer) run(ctx context.Context, options job.Options) error {
	options.Hear = t.listener(options)
	j, err := job.Open(ctx, options)
	if err != nil {
		return err
	}
	defer j.Close()
	if err := j.Prepare(ctx); err != nil {
		return err
	}
	j.Checkpoint = job.CheckpointBeside(j.Checkpoint, j.Paths.Output)
	if err := j.Claim(t.resumed); err != nil {
		return err
	}
	if err := j.OpenDevices(ctx); err != nil {
		return err
	}
	tellOfDevices(t.out, j.Fleet)
	return t.train(ctx, j)
}

// stopped says how to go on after a run that was told to stop.
func (t *trainer) stopped(ctx context.Context, checkpoint string, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) && checkpoint != "" {
		return problem.Advise("go on with "+t.goOn(checkpoint), "%w", err)
	}
	return err
}
