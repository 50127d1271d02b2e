package parallel

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// An infinite or NaN update must not become a version. Devices with device.FiniteUpdates
// check their updates while the weights are in the cache. For the others the host reads the
// state once after every commit.

// checksUpdates reports whether a member's commits detect updates that are not finite.
func (m *member) checksUpdates() bool { return m.Device.Info().Has(device.FiniteUpdates) }

// checkState reads the state, which the members have not checked, and returns an error if
// the last update was not finite.
func (d *Driver) checkState(ctx context.Context) error {
	state, err := d.readState(ctx)
	if err != nil {
		return err
	}
	return finiteUpdates(d.group.members[0], d.program.current, state)
}

// finiteUpdates returns an error if the state after the update of m is not finite.
func finiteUpdates(m *member, p *graph.Program, state map[string]tensor.Tensor) error {
	for _, u := range p.Function(graph.Commit).Updates {
		if err := device.Finite(u.State, state[u.State]); err != nil {
			return device.Errorf(m.Name, graph.Commit, device.NonFinite, "%w", err)
		}
	}
	return nil
}
