package parallel

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// snapshot returns the state that the ledger begins with.
func (d *Driver) snapshot() (device.Version, map[string]tensor.Tensor) {
	return d.ledger.version, d.ledger.state
}

// reached returns a number that changes when a step, or a replay, gets further.
func (d *Driver) reached() device.Version { return d.version + d.ledger.version }

// renewOften makes replays renew the snapshot on the way: after half of the
// steps of the ledger, or of those after which they did so far.
func (d *Driver) renewOften() {
	longest := len(d.ledger.entries)
	if d.stride > 0 {
		longest = min(longest, d.stride)
	}
	d.stride = max(1, longest/2)
}

// replay brings m, the only member, from the snapshot to the present version.
// It renews the snapshot after every stride steps.
func (d *Driver) replay(ctx context.Context, m *member) error {
	for done := 0; done < len(d.ledger.entries); {
		v := d.ledger.version + device.Version(done)
		err := d.group.limits.call(m, func() error { return d.repeat(ctx, m, v, d.ledger.entries[done]) })
		if err != nil {
			return err
		}
		if done++; d.stride > 0 && done == d.stride {
			if err := d.renew(ctx, m, done); err != nil {
				return err
			}
			done = 0
		}
	}
	return d.group.limits.call(m, func() error { return d.program.write(ctx, m, d.ledger.writes) })
}

// renew makes the state of a member that has repeated these steps the snapshot.
func (d *Driver) renew(ctx context.Context, m *member, steps int) error {
	return d.group.limits.call(m, func() error {
		state, err := d.program.read(ctx, m)
		if err == nil {
			d.ledger.advance(steps, state)
		}
		return err
	})
}

// repeat makes one step of the ledger again.
func (d *Driver) repeat(ctx context.Context, m *member, v device.Version, e entry) error {
	if err := d.program.write(ctx, m, e.writes); err != nil {
		return err
	}
	d.runs++
	if _, err := m.exe.Run(ctx, e.batch.step(d.program.Function(graph.Train), d.runs, m.replicas)); err != nil {
		return err
	}
	m.steps++
	return m.commit(ctx, v, e.hyper)
}
