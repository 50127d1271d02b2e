package parallel

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/step"
)

// A replay runs the steps of the ledger, from the snapshot on, on one device that holds all
// replicas. At its end the device has the version of the run:
//
//	snapshot v --step--> v+1 --step--> v+2 --step--> present
//	             stride = 2:   renewed here (renewOften), so that the next replay is shorter

// reached returns a number that changes when a step or a replay makes progress.
func (r *recovery) reached() device.Version { return r.stepper.Version() + r.ledger.Version }

// replay brings m, the only member, from the ledger's snapshot to the present state.
// It renews the snapshot after every stride steps.
func (r *recovery) replay(ctx context.Context, m *member) error {
	for done := 0; done < len(r.ledger.Entries); {
		v := r.ledger.Version + device.Version(done)
		err := r.group.timeouts.call(m, func() error { return r.repeat(ctx, m, v, r.ledger.Entries[done]) })
		if err != nil {
			return err
		}
		if done++; r.ledger.Stride > 0 && done == r.ledger.Stride {
			if err := r.renew(ctx, m, done); err != nil {
				return err
			}
			done = 0
		}
	}
	return r.group.timeouts.call(m, func() error { return r.program.write(ctx, m, r.ledger.Writes) })
}

// renew makes the state of a member, which has repeated the first steps of the ledger, the snapshot.
func (r *recovery) renew(ctx context.Context, m *member, steps int) error {
	return r.group.timeouts.call(m, func() error {
		state, err := r.program.read(ctx, m)
		if err == nil {
			r.ledger.Advance(steps, state)
		}
		return err
	})
}

// repeat makes one step of the ledger again.
func (r *recovery) repeat(ctx context.Context, m *member, v device.Version, e step.Entry) error {
	if err := r.program.write(ctx, m, e.Writes); err != nil {
		return err
	}
	r.group.runs++
	run := e.Batch.On(m.replicas, r.program.current.Function(graph.Train), r.group.runs)
	if _, err := m.exe.Run(ctx, run); err != nil {
		return err
	}
	m.steps++
	return m.commit(ctx, v, e.Hyper)
}
