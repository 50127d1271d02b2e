package parallel

import (
	"context"
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/internal/awake"
	"github.com/bnctl/bnctl/tensor"
)

// A device that comes back gets the program, the placement and the state, in this order.
// Only then do the others wait for it.

// rejoinPending admits the devices that were reopened, or that joined, since the last step.
func (r *recovery) rejoinPending(ctx context.Context) error {
	for r.reopener.hasPending() {
		state, err := r.stepper.readState(ctx)
		if err != nil {
			return err
		}
		if !r.reopener.hasPending() {
			break // readState has lost all other members and has already admitted m
		}
		m, err := r.reopener.next(ctx)
		if err == nil {
			_, err = r.rejoin(ctx, m, r.stepper.Version(), state)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// awaitOne waits for a device when all members are lost, and brings it to the present state. cause is
// the reason for the last loss. awaitOne fails if no device comes back within the timeout, or if too
// many came back without progress.
func (r *recovery) awaitOne(ctx context.Context, cause error) error {
	for err := cause; len(r.group.members) == 0; {
		if err := r.countLastLoss(err); err != nil {
			return err
		}
		m, missed := r.nextWithin(ctx, err)
		if missed != nil {
			return missed
		}
		var fatal error
		if err, fatal = r.rejoinAlone(ctx, m); fatal != nil {
			return fatal
		}
	}
	return nil
}

// nextWithin returns the next device that comes back within the timeout. cause is the reason
// for the last loss.
func (r *recovery) nextWithin(ctx context.Context, cause error) (*member, error) {
	waiting, stop := awake.WithTimeout(ctx, r.config.timeout())
	defer stop()
	m, err := r.reopener.next(waiting)
	switch {
	case err == nil:
		return m, nil
	case errors.Is(err, FleetClosed):
		return nil, fmt.Errorf("%w: %w", NoDevices, err)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("%w, and none came back within %v: %w", NoDevices, r.config.timeout(), cause)
}

// rejoinAlone makes m the only member and brings it to the present state. lost is the error if m was
// lost again; fatal is the error if the run cannot continue.
func (r *recovery) rejoinAlone(ctx context.Context, m *member) (lost, fatal error) {
	if lost, fatal = r.rejoin(ctx, m, r.ledger.Version, r.ledger.State); lost != nil || fatal != nil {
		return lost, fatal
	}
	if err := r.regroup(ctx); err != nil {
		return err, r.drop(err)
	}
	if lost = r.replay(ctx, m); lost != nil {
		return lost, r.drop(lost)
	}
	r.restarted = true
	return nil, nil
}

// rejoin makes a reopened device a member, with the program and a state of version v. failed is the
// error if it was lost again; fatal is the error if the run cannot continue.
func (r *recovery) rejoin(ctx context.Context, m *member, v device.Version, state map[string]tensor.Tensor) (
	failed, fatal error) {
	r.reopener.devices = append(r.reopener.devices, m.Device)
	m.base, m.verified = v, v
	r.group.admit(m)
	err := r.group.assign()
	if err == nil {
		err = r.group.timeouts.call(m, func() (err error) {
			if m.exe, err = m.Device.Load(ctx, r.program.current, m.capacity); err != nil {
				return err
			}
			return r.program.write(ctx, m, state)
		})
	}
	if err != nil {
		failed = &lost{m, m.named(err)}
		return failed, r.drop(failed)
	}
	r.report(m, v)
	return nil, nil
}

// report reports that a device participates from a version on.
func (r *recovery) report(m *member, v device.Version) {
	if r.config.Back != nil {
		r.config.Back(RejoinedDevice{Device: m.Name, Step: uint64(v), New: m.isNew})
	}
	m.isNew = false
}
