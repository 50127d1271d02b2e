package parallel

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Devices with exact updates, bit for bit as defined (device.ExactUpdates), may update their weights by
// themselves. Other devices receive the state of an exact one:
//
//	leader   commit --> read updates --+--> others: write, and count the version
//	                                   +--> exact ones commit for themselves

// broadcast is an update that one device makes for others: with Config.Template for all devices,
// otherwise for the devices without exact updates.
type broadcast struct {
	driver *Driver
	state  map[string]tensor.Tensor // state after the update; nil before the update
}

// run makes the next version of the state on every member that lacks it. After an error it can be
// called again, without the member that was lost.
func (b *broadcast) run(ctx context.Context, h device.Hyper) error {
	d := b.driver
	if b.state == nil {
		leader := d.group.members.leader()
		if err := d.group.timeouts.call(leader, func() error { return b.update(ctx, leader, h) }); err != nil {
			return fmt.Errorf("%s: %w", leader.Name, err)
		}
	}
	return d.group.eachAlone(func(_ int, m *member) error {
		switch {
		case m.written > d.version:
			return nil
		case !d.config.Template && m.exact():
			return m.commit(ctx, d.version, h)
		}
		return b.send(ctx, m)
	})
}

// update commits on one member and reads the changed tensors: weights and optimizer state,
// so that any other member can replace it.
func (b *broadcast) update(ctx context.Context, m *member, h device.Hyper) error {
	d := b.driver
	if err := m.commit(ctx, d.version, h); err != nil {
		return err
	}
	state := map[string]tensor.Tensor{}
	for _, u := range d.program.current.Function(graph.Commit).Updates {
		t, err := m.exe.Read(ctx, u.State)
		if err != nil {
			return err
		}
		state[u.State] = t
	}
	b.state, m.written = state, d.version+1
	return finiteUpdates(m, d.program.current, state)
}

// send writes the next version to a member that does not commit. The member's executable still
// counts the old version, so send adds 1 to base, the difference between the two counts.
func (b *broadcast) send(ctx context.Context, m *member) error {
	if err := b.driver.program.write(ctx, m, b.state); err != nil {
		return err
	}
	m.base++
	m.written = b.driver.version + 1
	return nil
}
