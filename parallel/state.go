package parallel

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/parallel/internal/ranks"
	"github.com/bnctl/bnctl/tensor"
)

// All members hold the same state, so it is read from one and written to all.

// Write sets state tensors on every device, at the current version.
func (d *Driver) Write(ctx context.Context, state map[string]tensor.Tensor) error {
	d.ledger.Write(state)
	return d.write(ctx, state)
}

// write does the same as Write, without an entry in the ledger.
func (d *Driver) write(ctx context.Context, state map[string]tensor.Tensor) error {
	for {
		err := d.group.eachAlone(func(_ int, m *member) error { return d.program.write(ctx, m, state) })
		if err == nil {
			return nil
		}
		if err := d.recovery.after(ctx, err); isEmptyRank(err) {
			return nil // the next device gets the state of another rank, which writes the same
		} else if err != nil {
			return err
		}
	}
}

// Snapshot reads all state and begins a new ledger with it. A run that loses all devices
// repeats the steps since then.
func (d *Driver) Snapshot(ctx context.Context) (map[string]tensor.Tensor, error) {
	state, err := d.State(ctx)
	if err == nil {
		d.ledger.Begin(d.version, state)
	}
	return state, err
}

// keepsLedger reports whether all steps since a snapshot may have to be repeated. Without Config.Reopen
// lost devices never return. With several ranks, the other ranks still have the state that one rank has
// lost.
func (d *Driver) keepsLedger() bool {
	return d.config.Reopen != nil && d.ranks == nil
}

// SnapshotDue reports whether the steps since the last snapshot would take long to repeat,
// or their inputs need much memory.
func (d *Driver) SnapshotDue() bool { return d.ledger.Long() }

// State reads all state from one device, since all have the same. With peers all ranks call
// State.
func (d *Driver) State(ctx context.Context) (state map[string]tensor.Tensor, err error) {
	if d.ranks == nil || d.commitErr != nil {
		if err := d.compareStates(ctx, true); err != nil && d.commitErr == nil {
			return nil, err
		}
		return d.readState(ctx)
	}
	_, err = d.ranks.together(ctx, &ranks.Verdict{Of: fmt.Sprintf("state of version %d", d.version)},
		func() (_ []tensor.Tensor, err error) {
			state, err = d.readState(ctx)
			return nil, err
		})
	return state, err
}

// readState reads all state from a device of this rank.
func (d *Driver) readState(ctx context.Context) (map[string]tensor.Tensor, error) {
	if d.commitErr != nil {
		return nil, d.commitErr
	}
	for {
		if len(d.group.members) == 0 {
			return nil, fmt.Errorf("reading the state: %w", NoDevices)
		}
		var state map[string]tensor.Tensor
		m := d.group.members[0]
		err := d.group.timeouts.call(m, func() (err error) {
			state, err = d.program.read(ctx, m)
			return err
		})
		if err == nil {
			return state, nil
		}
		if err := d.recovery.after(ctx, err); err != nil {
			return nil, err
		}
	}
}
