package parallel

import (
	"context"
	"errors"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Commit makes the next version of the state on every device from the
// gradients of the last step. A device that is lost here is dropped; the
// others have the new version all the same. It does not stop half-way when ctx ends.
//
// If the update is not finite the error wraps device.NonFinite and names the
// tensor: then there is no next version, and State gives that error from then on.
func (d *Driver) Commit(ctx context.Context, h device.Hyper) error {
	ctx = context.WithoutCancel(ctx)
	b := &broadcast{driver: d}
	err := d.commit(ctx, b, h)
	members := d.group.members
	if err == nil && b.state == nil && len(members) > 0 &&
		!slices.ContainsFunc(members, (*member).checksUpdates) {
		err = d.checkState(ctx)
	}
	if errors.Is(err, device.NonFinite) {
		d.spoiled = err
	}
	return err
}

// checksUpdates reports whether a member's commits find updates that are not finite.
func (m *member) checksUpdates() bool { return m.Device.Info().Has(device.FiniteUpdates) }

// checkState reads the state, which no member has looked at, and returns an error if
// the last update was not finite.
func (d *Driver) checkState(ctx context.Context) error {
	state, err := d.present(ctx)
	if err != nil || len(d.group.members) == 0 {
		return err
	}
	return finiteUpdates(d.group.members[0], d.group.program, state)
}

// finiteUpdates returns an error of a member whose update gave this state.
func finiteUpdates(m *member, p *graph.Program, state map[string]tensor.Tensor) error {
	for _, u := range p.Function(graph.Commit).Updates {
		if err := device.Finite(u.State, state[u.State]); err != nil {
			return device.Errorf(m.Name, graph.Commit, device.NonFinite, "%w", err)
		}
	}
	return nil
}
