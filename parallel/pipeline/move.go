package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/parallel/step"
)

// A stage that has lost all of its devices waits for one to come back, as a run on a single device
// does. If none comes back in time, its layers become part of the previous or the next stage, and
// the devices of that stage load the layers of both:
//
//	stage 1 | stage 2 | stage 3        stage 1 | stage 2
//	a, b    | (lost)  | c, d      -->  a, b    | c, d     has the layers of stages 2 and 3
//
// All stages return to the snapshot of the ledger and repeat the steps since then
// (rollBack).

// MovedStage reports that a stage has lost all devices and its layers moved to the devices
// of another stage.
type MovedStage struct {
	Stage       int // number of the stage before the move, from 1
	First, Last string
	Step        uint64   // version of the state
	To          []string // devices
}

// moves reports whether layers may move after err: a stage has lost all of its devices, and the run
// continues.
func (s *Trainer) moves(ctx context.Context, err error) bool {
	return errors.Is(err, step.NoDevices) && !errors.Is(err, step.FleetClosed) && ctx.Err() == nil &&
		s.config.Reopens
}

// resolve returns nil if err was the loss of all devices of a stage and its layers have
// moved to others; rollBack then follows. Otherwise it returns err.
func (s *Trainer) resolve(ctx context.Context, err error) error {
	if !s.moves(ctx, err) || s.ranks != nil { // agree handles the loss
		return err
	}
	for i := 0; i < len(s.predictor.stages); {
		if len(s.predictor.stages[i].Columns()) > 0 {
			i++
			continue
		}
		s.enter(moving)
		if moved := s.move(ctx, i); moved != nil {
			return fmt.Errorf("%w; no other device takes the layers of stage %d: %w", err, i+1, moved)
		}
		i = 0
	}
	return nil
}

// move moves the layers of stage i to the devices of the previous or the next stage.
func (s *Trainer) move(ctx context.Context, i int) error {
	err := step.NoDevices
	for _, other := range []int{i - 1, i + 1} {
		if other < 0 || other >= len(s.predictor.stages) || len(s.predictor.stages[other].Columns()) == 0 {
			continue
		}
		first := min(i, other)
		division := s.division.Joined(first)
		programs, failed := division.Programs(s.program)
		if failed != nil {
			return failed
		}
		before := s.predictor.stages[other].Program()
		if err = s.load(ctx, other, programs[first]); err == nil {
			return s.join(i, other, division, programs)
		}
		if again := s.load(ctx, other, before); again != nil {
			return errors.Join(err, again)
		}
	}
	return err
}

// load loads another program on the devices of a stage, at the snapshot of the ledger.
func (s *Trainer) load(ctx context.Context, at int, p *graph.Program) error {
	loading := Loading{Program: p, State: stateIn(p, s.ledger.State), Number: s.number(at),
		Slots: stage.UnderWay(len(s.programs), s.first+at)}
	d, err := s.predictor.stages[at].Reload(ctx, loading, s.ledger.Version)
	if err == nil {
		s.predictor.stages[at] = d
	}
	return err
}

// join joins stage i, which has lost its devices, and stage other, which has loaded the
// layers of both.
func (s *Trainer) join(i, other int, d *stage.Division, programs []*graph.Program) error {
	to, was := s.predictor.columns()[other], s.plan.Stages[i]
	if err := s.predictor.stages[i].Close(); err != nil {
		return err
	}
	drivers := append(append([]Stage(nil), s.predictor.stages[:i]...), s.predictor.stages[i+1:]...)
	s.predictor, s.division, s.programs = emptyPredictor(s.program), d, programs
	for at, driver := range drivers {
		s.predictor.add(driver, driver.Program().Function(graph.Predict))
		driver.Renumber(at + 1)
	}
	s.planned()
	if s.config.Moved != nil {
		s.config.Moved(MovedStage{Stage: i + 1, First: was.First, Last: was.Last, Step: uint64(s.version),
			To: to})
	}
	return nil
}
