package parallel

import (
	"context"
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/stage"
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

// resolve returns nil if err was the loss of all devices of a stage and its layers have
// moved to others; rollBack then follows. Otherwise it returns err.
func (s *Staged) resolve(ctx context.Context, err error) error {
	if !errors.Is(err, NoDevices) || errors.Is(err, FleetClosed) || ctx.Err() != nil || s.config.Reopen == nil ||
		s.ranks != nil { // agree handles the loss
		return err
	}
	for i := 0; i < len(s.pipeline.stages); {
		if len(s.pipeline.stages[i].group.members) > 0 {
			i++
			continue
		}
		if moved := s.move(ctx, i); moved != nil {
			return fmt.Errorf("%w; no other device takes the layers of stage %d: %w", err, i+1, moved)
		}
		i = 0
	}
	return nil
}

// move moves the layers of stage i to the devices of the previous or the next stage.
func (s *Staged) move(ctx context.Context, i int) error {
	err := NoDevices
	for _, other := range []int{i - 1, i + 1} {
		if other < 0 || other >= len(s.pipeline.stages) || len(s.pipeline.stages[other].group.members) == 0 {
			continue
		}
		first := min(i, other)
		division := s.division.Joined(first)
		programs, failed := division.Programs(s.program)
		if failed != nil {
			return failed
		}
		before, took := s.pipeline.stages[other].program.current, false
		if took, err = s.load(ctx, other, programs[first]); took {
			return s.join(i, other, division, programs)
		}
		if _, again := s.load(ctx, other, before); again != nil {
			return errors.Join(err, again)
		}
	}
	return err
}

// load loads another program on the devices of a stage, at the snapshot of the ledger.
func (s *Staged) load(ctx context.Context, at int, p *graph.Program) (bool, error) {
	was, c := s.pipeline.stages[at], s.ofStage
	var devices []Member
	for _, m := range was.group.members {
		devices = append(devices, m.Member)
	}
	reopened := was.recovery.reopener.devices
	was.recovery.reopener.devices = nil // they stay open
	if err := was.Close(); err != nil {
		return false, err
	}
	c.stage, c.slots = s.number(at), stage.UnderWay(len(s.programs), s.first+at)
	state := stateIn(p, s.ledger.State)
	d, err := Open(ctx, p, state, devices, c)
	if err != nil {
		was.recovery.reopener.devices = reopened
		return false, err
	}
	d.config.Reopen = nil
	d.recovery.reopener.devices = append(d.recovery.reopener.devices, reopened...)
	d.ledger.Begin(s.ledger.Version, state)
	d.version, d.recovery.restarted = s.ledger.Version, true
	for _, m := range d.group.members {
		m.base, m.verified = d.version, d.version
	}
	s.pipeline.stages[at] = d
	return true, nil
}

// join joins stage i, which has lost its devices, and stage other, which has loaded the
// layers of both.
func (s *Staged) join(i, other int, d *stage.Division, programs []*graph.Program) error {
	to, was := s.pipeline.stages[other], s.plan.Stages[i]
	if err := s.pipeline.stages[i].Close(); err != nil {
		return err
	}
	drivers := append(append([]*Driver(nil), s.pipeline.stages[:i]...), s.pipeline.stages[i+1:]...)
	s.pipeline, s.division, s.programs = emptyPipeline(s.program), d, programs
	for at, driver := range drivers {
		s.pipeline.add(driver, driver.program.current.Function(graph.Predict))
		for _, m := range driver.group.members {
			m.stage = at + 1
		}
	}
	s.planned()
	s.refreshGroup()
	if s.config.Moved != nil {
		s.config.Moved(MovedStage{Stage: i + 1, First: was.First, Last: was.Last, Step: uint64(s.version),
			To: to.group.Devices()})
	}
	return nil
}
