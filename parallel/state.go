package parallel

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Write sets state tensors on every device, at the current version.
func (d *Driver) Write(ctx context.Context, state map[string]tensor.Tensor) error {
	d.ledger.write(state)
	return d.write(ctx, state)
}

// write is Write of what the ledger knows already.
func (d *Driver) write(ctx context.Context, state map[string]tensor.Tensor) error {
	for {
		err := d.group.eachAlone(func(_ int, m *member) error { return d.writeTo(ctx, m, state) })
		if err == nil {
			return nil
		}
		if err := d.group.recover(ctx, err); isEmptied(err) {
			return nil // the next device gets the state of another rank, which writes the same
		} else if err != nil {
			return err
		}
	}
}

// Snapshot reads all state and begins a new ledger with it: a run that loses
// all devices repeats the steps since then.
func (d *Driver) Snapshot(ctx context.Context) (map[string]tensor.Tensor, error) {
	state, err := d.State(ctx)
	if err == nil {
		d.ledger.begin(d.version, state)
	}
	return state, err
}

// SnapshotDue reports whether repeating the steps since the last snapshot has
// become long, or keeping their inputs large.
func (d *Driver) SnapshotDue() bool { return d.ledger.long() }

// State reads all state from one device: they all have the same. With peers all
// ranks call it.
func (d *Driver) State(ctx context.Context) (state map[string]tensor.Tensor, err error) {
	if d.group.config.Peers == nil || d.spoiled != nil {
		return d.present(ctx)
	}
	_, err = d.together(ctx, &verdict{Of: fmt.Sprintf("state of version %d", d.version)},
		func() (_ []tensor.Tensor, err error) {
			state, err = d.present(ctx)
			return nil, err
		})
	return state, err
}

// present is State of this rank.
func (d *Driver) present(ctx context.Context) (map[string]tensor.Tensor, error) {
	if d.spoiled != nil {
		return nil, d.spoiled
	}
	for {
		if len(d.group.members) == 0 {
			return nil, fmt.Errorf("reading the state: %w", NoDevices)
		}
		var state map[string]tensor.Tensor
		m := d.group.members[0]
		err := d.group.withDeadline(m, func() (err error) {
			state, err = d.read(ctx, m)
			return err
		})
		if err == nil {
			return state, nil
		}
		if err := d.group.recover(ctx, err); err != nil {
			return nil, err
		}
	}
}

func (d *Driver) read(ctx context.Context, m *member) (map[string]tensor.Tensor, error) {
	state := make(map[string]tensor.Tensor, len(d.group.program.State))
	for _, s := range d.group.program.State {
		t, err := m.exe.Read(ctx, s.Name)
		if err != nil {
			return nil, m.named(err)
		}
		state[s.Name] = t
	}
	return state, nil
}

// writeTo writes state on a member.
func (d *Driver) writeTo(ctx context.Context, m *member, state map[string]tensor.Tensor) error {
	return writeState(ctx, m.exe, d.group.program, state)
}

// writeState writes the tensors that state has, in the order of the program's table.
func writeState(ctx context.Context, exe device.Executable, p *graph.Program,
	state map[string]tensor.Tensor) error {
	var names []string
	for _, s := range p.State {
		if _, ok := state[s.Name]; ok {
			names = append(names, s.Name)
		}
	}
	return exe.WriteAll(ctx, names, state)
}
