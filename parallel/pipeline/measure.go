package pipeline

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// The time of a layer depends not only on its computation, but also on the rows of a
// replica, on the weights that are read for each replica, and on the device. So it is
// measured, in steps that are not committed.

// measure replaces the estimated times of the layers by times that are measured on the stages, for
// a replica. Every trial begins with new weights, and the devices lay these out for their kernels
// in the first run. measure ignores a failing device: the first step discovers it and can continue
// without it.
func (s *Trainer) measure(ctx context.Context, state map[string]tensor.Tensor) error {
	best, least := make([]map[string]stage.Ran, len(s.predictor.stages)), time.Duration(0)
	for pass := range trials {
		f, err := s.tried(ctx, state)
		if s.ranks != nil {
			retry, off := s.ranks.failed(ctx, err)
			mine := s.reportOf("a trial", retry || off != nil)
			all, failed := s.ranks.agree(ctx, mine, nil, nil)
			if failed != nil {
				return failed
			}
			if slices.ContainsFunc(all, func(r stageReport) bool { return r.Retry }) {
				return context.Cause(ctx)
			}
		}
		if err != nil {
			return context.Cause(ctx)
		}
		if pass > 1 && f.took >= least {
			continue
		}
		least = f.took
		for i, driver := range s.predictor.stages {
			best[i] = map[string]stage.Ran{}
			for name, told := range f.profile[f.columns[i][0]] {
				best[i][name] = s.meanRun(driver.Program().Function(name), told)
			}
		}
	}
	for i := range best {
		var runs []stage.Ran
		for _, name := range []string{graph.Forward, graph.Backward} {
			if r, ok := best[i][name]; ok {
				runs = append(runs, r)
			}
		}
		if len(runs) > 0 {
			s.times = s.division.Measured(s.times, s.first+i, s.rows, runs...)
		}
	}
	if s.ranks == nil {
		return nil
	}
	var err error
	s.times, err = s.ranks.joinTimes(ctx, s.division, s.times)
	return err
}

// tried runs a step without a commit.
func (s *Trainer) tried(ctx context.Context, state map[string]tensor.Tensor) (*flow, error) {
	runs := make([]uint64, len(s.predictor.stages))
	err := s.each(func(i int, d Stage) (err error) {
		if err := d.Write(ctx, stateIn(d.Program(), state)); err != nil {
			return err
		}
		runs[i], err = d.Begin(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	f := newFlow(s, s.trial(), passes{graph.Forward, graph.Backward, graph.Reduce}, runs)
	f.profile = map[Column]map[string][]device.Outcome{}
	_, err = f.run(ctx)
	return f, err
}

// trials is the number of trial steps. The first one does not count, because first runs are slower.
// Of the remaining ones the fastest counts, because other processes have disturbed it least.
const trials = 4

// trialReplicas is the number of replicas that have rows in a trial, for each column of devices. It
// is enough for all stages to work at once.
const trialReplicas = 4

// meanRun estimates the mean run of a full step from the outcomes of a trial: a run without
// replicas, if there was one, the run of the first replica, and the later runs. A full step has
// more replicas than a trial; their runs are assumed to take as long as the later ones.
func (s *Trainer) meanRun(fn *graph.Function, outcomes []device.Outcome) stage.Ran {
	r := stage.Ran{Function: fn}
	if !slices.ContainsFunc(outcomes, func(o device.Outcome) bool { return len(o.Nodes) != len(fn.Nodes) }) {
		r.Nodes = make([]time.Duration, len(fn.Nodes))
	}
	replicas := min(trialReplicas, s.waves)
	first := max(len(outcomes)-max(replicas-1, 1), 0) // index of the first later run
	for k, o := range outcomes {
		times := 1.
		if k >= first {
			times = float64(s.waves-replicas)/float64(len(outcomes)-first) + 1
		}
		times /= float64(s.waves)
		fraction := func(t time.Duration) time.Duration { return time.Duration(times * float64(t)) }
		r.Took += fraction(o.Took)
		for i := range r.Nodes {
			r.Nodes[i] += fraction(o.Nodes[i])
		}
	}
	return r
}

// remeasured measures the stages. If the times allow a better division and may is true, it loads that
// division instead. It returns the loaded stages.
func (s *Trainer) remeasured(ctx context.Context, state map[string]tensor.Tensor, may bool,
	load func(*stage.Division) (*Trainer, error)) (*Trainer, error) {
	if err := s.measure(ctx, state); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	better, ok := s.division.Again(s.times)
	if !may || !ok {
		return s, nil
	}
	was, times := s.division, s.times
	if err := s.Close(); err != nil {
		return nil, err
	}
	s, err := load(better)
	if errors.Is(err, device.OutOfMemory) { // the faster division needs too much memory
		s, err = load(was)
	}
	if err != nil {
		return nil, err
	}
	if s.times = times; s.division == better {
		if err := s.measure(ctx, state); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// trial returns a batch of numbers in which the first replicas of every column have rows.
func (s *Trainer) trial() step.Batch {
	b, total := step.Batch{Rows: map[string]tensor.Tensor{}, Sizes: make([]int, s.config.Replicas)}, 0
	for _, m := range s.predictor.stages[0].Columns() {
		for _, r := range m.Replicas()[:min(trialReplicas, len(m.Replicas()))] {
			b.Sizes[r] = s.rows
			total += s.rows
		}
	}
	b.Inverse = 1 / float32(max(total, 1))
	draw, template := rand.New(rand.NewPCG(1, 1)), s.predictor.external.Name
	for _, v := range s.program.Function(graph.Train).Inputs {
		v := s.program.Function(graph.Train).Values[v]
		if v.Name == step.InputInverse {
			continue
		}
		t := tensor.New(v.Type.DType, v.Type.Sized(total, s.config.Replicas)...)
		if v.Type.DType == tensor.F32 {
			x := t.F32()
			for i := range x {
				if x[i] = 1; v.Name == template {
					x[i] = float32(draw.NormFloat64())
				}
			}
		}
		b.Rows[v.Name] = t
	}
	return b
}

// note records the outcome of a run if a profile was requested.
func (f *flow) note(m Column, fn *graph.Function, o device.Outcome) {
	if f.profile == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.profile[m] == nil {
		f.profile[m] = map[string][]device.Outcome{}
	}
	f.profile[m][fn.Name] = append(f.profile[m][fn.Name], device.Outcome{Nodes: o.Nodes, Took: o.Took})
}
