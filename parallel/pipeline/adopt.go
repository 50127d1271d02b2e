package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// With several ranks, as in one process, the layers of a stage that has lost all of its devices move
// to the previous or the next stage, on whichever rank: all ranks have the snapshot of the whole
// state. A rank that has lost its last stage continues without one: it still reads samples, reports
// and has the state.

// agree does the same as stageRanks.agree. If a stage of any rank has lost all devices, it becomes
// part of another stage, and all stages then return to the snapshot.
func (s *Trainer) agree(ctx context.Context, mine stageReport, failed error,
	outputs map[string]tensor.Tensor) ([]stageReport, error) {
	mine.Orphan, mine.Why = s.orphan(ctx, failed)
	why := failed
	if mine.Orphan > 0 {
		failed = nil
	}
	all, err := s.ranks.agree(ctx, mine, failed, outputs)
	for found := all; err == nil; {
		at := slices.IndexFunc(found, func(r stageReport) bool { return r.Orphan > 0 })
		if at < 0 {
			break
		}
		s.enter(moving)
		if err = s.adopt(ctx, found[at].Orphan-1, found[at].Why, why); err == nil {
			all[0].Restarted = true
			next := s.reportOf("a look for devices", false)
			next.Orphan, next.Why = s.orphan(ctx, why)
			found, err = s.ranks.agree(ctx, next, nil, nil)
		}
	}
	return all, err
}

// orphan returns the number, from 1, of the first stage of this rank that has lost all
// devices. It returns 0 if there is none or if the run is to end.
func (s *Trainer) orphan(ctx context.Context, err error) (number int, why string) {
	if !s.moves(ctx, err) {
		return 0, ""
	}
	i := slices.IndexFunc(s.predictor.stages, func(d Stage) bool { return len(d.Columns()) == 0 })
	if i < 0 {
		return 0, ""
	}
	return s.number(i), err.Error()
}

// adopt moves the layers of stage i to a neighbouring stage. why is the reason why the stage lost its
// devices. On the rank of the stage, cause is the error that reported the loss.
func (s *Trainer) adopt(ctx context.Context, i int, why string, cause error) error {
	if i >= len(s.programs) {
		return fmt.Errorf("rank of stage %d of %d: %s", i+1, len(s.programs), why)
	}
	refused := "there is none"
	for _, other := range []int{i - 1, i + 1} {
		if other < 0 || other >= len(s.programs) {
			continue
		}
		first := min(i, other)
		division := s.division.Joined(first)
		programs, err := division.Programs(s.program)
		if err != nil {
			return err
		}
		mine := s.reportOf("a stage that moves", false)
		var failed error
		if s.ranks.owners[other] == s.ranks.peers.Rank() {
			mine.Why, failed = s.takeOver(ctx, other-s.first, programs[first])
			mine.Retry = mine.Why != ""
		}
		all, err := s.ranks.agree(ctx, mine, failed, nil)
		if err != nil {
			return err
		}
		if r := all[s.ranks.owners[other]]; r.Retry {
			refused = r.Why
			continue
		}
		return s.joinOverRanks(i, other, division, programs)
	}
	rank := s.ranks.owners[i]
	text := fmt.Sprintf("%s; no other device takes the layers of stage %d: %s", why, i+1, refused)
	if rank == s.ranks.peers.Rank() {
		return fmt.Errorf("%w; no other device takes the layers of stage %d: %s", cause, i+1, refused)
	}
	return problem.Failure("", fmt.Sprintf("rank %d: %s", rank, text), "").Because(step.NoDevices)
}

// takeOver loads another program on the devices of a stage of this rank. If that fails, it
// loads the previous program again and returns the reason.
func (s *Trainer) takeOver(ctx context.Context, stage int, p *graph.Program) (refused string, _ error) {
	d := s.predictor.stages[stage]
	if len(d.Columns()) == 0 {
		return "the devices beside it are lost, too", nil
	}
	if readsInput(p, s.predictor.external.Name) && !s.predictor.reads() {
		return fmt.Sprintf("rank %d has not read the samples", s.ranks.peers.Rank()), nil
	}
	before := d.Program()
	err := s.load(ctx, stage, p)
	if err == nil {
		return "", nil
	}
	if again := s.load(ctx, stage, before); again != nil {
		return "", errors.Join(err, again)
	}
	return err.Error(), nil
}

// joinOverRanks joins stage i, which has lost its devices, and stage other, which has
// loaded the layers of both.
func (s *Trainer) joinOverRanks(i, other int, d *stage.Division, programs []*graph.Program) error {
	r, was, rows := s.ranks, s.plan.Stages[i], s.predictor.rows
	moved := MovedStage{Stage: i + 1, First: was.First, Last: was.Last, Step: uint64(s.version),
		To: r.columns[other]}
	drivers := slices.Clone(s.predictor.stages)
	if me := r.peers.Rank(); r.owners[i] == me {
		if err := drivers[i-s.first].Close(); err != nil {
			return err
		}
		drivers = slices.Delete(drivers, i-s.first, i-s.first+1)
	}
	r.owners, r.columns = slices.Delete(r.owners, i, i+1), slices.Delete(r.columns, i, i+1)
	s.first = max(slices.Index(r.owners, r.peers.Rank()), 0)
	s.predictor, s.division, s.programs = emptyPredictor(s.program), d, programs
	s.routes = map[passes]*routes{}
	for at, driver := range drivers {
		s.predictor.add(driver, driver.Program().Function(graph.Predict))
		driver.Renumber(s.number(at))
	}
	s.predictor.rows = rows // the same on all ranks
	s.predictor.overRanks(r, programs)
	s.planned()
	if s.config.Moved != nil {
		s.config.Moved(moved)
	}
	return nil
}
