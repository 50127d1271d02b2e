package parallel

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// A commit must happen on all members or on none, although each member commits by itself. It is
// deterministic, so if it fails on one member and succeeds on others, only the member is lost: it
// rejoins with the state of a member that succeeded. A commit that is not finite fails on all members,
// because all make the same update.

// Commit makes the next version of the state on every device from the gradients of the last
// step. A device that is lost here is dropped, and the others still have the new version.
// Commit does not stop halfway when ctx ends.
//
// If the update is not finite the error wraps device.NonFinite and names the tensor. The
// run then has no next version, and State returns that error from then on.
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
		d.commitErr = err
	}
	if err == nil {
		d.inFlight.believed.Store(false)
		err = d.compareStates(ctx, false)
	}
	return err
}

// regrouped records that some members may lack the gradients that the last Step kept.
func (d *Driver) regrouped() {
	d.retained, d.checks.since, d.checks.next = false, d.version, d.version+1
}

// hasCommitted reports whether some rank may have committed. So it also returns true between a Step
// and its Commit.
func (d *Driver) hasCommitted() bool { return d.version > 0 || d.stepped }

// commit makes the commit, without the checks that follow it in Commit.
func (d *Driver) commit(ctx context.Context, b *broadcast, h device.Hyper) error {
	for {
		if d.stepped && !d.retained { // the members with the gradients were lost, before or in this commit
			if d.ranks != nil {
				return fmt.Errorf("the gradients of step %d were lost on this rank: %w", d.version+1, NoDevices)
			}
			if _, err := d.runToEnd(ctx, d.program.current.Function(graph.Train), d.ledger.Batch); err != nil {
				return err
			}
		}
		err := d.update(ctx, b, h)
		if err == nil {
			break
		}
		if err := d.recovery.replaceLost(ctx, err); isEmptyRank(err) {
			break // other ranks have the new version, and send it to this rank's next device
		} else if err != nil {
			return err
		}
	}
	d.version++
	d.stepped, d.retained = false, false
	if d.keepsLedger() {
		d.ledger.Commit(h)
	}
	return nil
}

// update makes the next version on every device. Each device updates its state, or one device
// does it for all.
func (d *Driver) update(ctx context.Context, b *broadcast, h device.Hyper) error {
	if len(d.group.members) == 0 {
		return nil // a rank without a device gets the state of another rank with its next device
	}
	if d.config.Template || d.group.members.updatesDiffer() || b.state != nil {
		return b.run(ctx, h)
	}
	return d.group.eachAlone(func(_ int, m *member) error { return m.commit(ctx, d.version, h) })
}
