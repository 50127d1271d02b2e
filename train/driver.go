package train

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Driver runs the program of a training on devices. It is a parallel.Driver, with all layers on each device,
// or a parallel.Staged, with some layers on each device.
type Driver interface {
	Step(ctx context.Context, b parallel.Batch) (parallel.Result, error)
	Commit(ctx context.Context, h device.Hyper) error
	Moments(ctx context.Context, b parallel.Batch) (parallel.Result, error)
	Predict(ctx context.Context, x tensor.Tensor) ([]tensor.Tensor, error)
	Rows() int
	OwnRows(rows int) (from, to int)
	Write(ctx context.Context, state map[string]tensor.Tensor) error
	State(ctx context.Context) (map[string]tensor.Tensor, error)
	Snapshot(ctx context.Context) (map[string]tensor.Tensor, error)
	SnapshotDue() bool
	Group() *parallel.Group
	Version() device.Version
	Close() error
}

// drive loads the program of the run on its devices.
func (s *Session) drive(ctx context.Context, tight bool, state map[string]tensor.Tensor) error {
	stages := s.plan.config.Stages
	program, err := s.plan.loaded(tight && stages.One())
	if err != nil {
		return err
	}
	if !stages.One() {
		if s.plan.recipe.HasLateGradients() {
			return problem.New("weight-sync", "", "gradients that come late wait on the host for all layers together",
				"use {weight-sync} allreduce")
		}
		stages.BF16 = s.plan.recipe.Precision == device.BF16
		c := s.driverConfig()
		if recomputes(s.plan.config.Recompute, true) && program == s.plan.program {
			precision := s.plan.recipe.Precision
			c.Recomputing = func() (*graph.Program, error) { return recomputing(program, precision) }
		}
		d, err := parallel.OpenStaged(ctx, s.plan.template.Graph, program, stages, state, s.devices.members, c)
		if err == nil {
			s.trainer.driver, s.trainer.weights = d, allReduceWeights{d}
		}
		return err
	}
	d, err := parallel.Open(ctx, program, state, s.devices.members, s.driverConfig())
	if err == nil {
		s.trainer.driver, s.trainer.weights = d, startWeights(s.plan, d, state)
	}
	return err
}
