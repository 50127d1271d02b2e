package parallel

import (
	"context"
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/awake"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/tensor"
)

// BackEvent tells of a device that takes part again.
type BackEvent struct {
	Device string
	Step   uint64 // version of the state
}

// rejoinPending makes the devices members that were opened again since the last step.
func (g *Group) rejoinPending(ctx context.Context) error {
	for g.reopener.hasPending() {
		state, err := g.stepper.present(ctx)
		if err != nil {
			return err
		}
		if !g.reopener.hasPending() {
			break // it is a member since all others were lost meanwhile
		}
		m, err := g.reopener.next(ctx)
		if err == nil {
			_, err = g.rejoin(ctx, m, g.stepper.Version(), state)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// awaitOne waits for a device when none is left, and brings it to the present
// state. cause is why the last one was lost. It gives up when none comes
// within the time-out, or when too many came and got no further.
func (g *Group) awaitOne(ctx context.Context, cause error) error {
	for err := cause; len(g.members) == 0; {
		if err := g.countLastLoss(err); err != nil {
			return err
		}
		m, missed := g.nextWithin(ctx, err)
		if missed != nil {
			return missed
		}
		var fatal error
		if err, fatal = g.rejoinAlone(ctx, m); fatal != nil {
			return fatal
		}
	}
	return nil
}

// nextWithin returns the next device to come back within the time-out. cause is
// why the last one was lost.
func (g *Group) nextWithin(ctx context.Context, cause error) (*member, error) {
	waiting, stop := awake.WithTimeout(ctx, g.config.timeout())
	defer stop()
	m, err := g.reopener.next(waiting)
	switch {
	case err == nil:
		return m, nil
	case errors.Is(err, FleetClosed):
		return nil, fmt.Errorf("%w: %w", NoDevices, err)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("%w, and none came back within %v: %w", NoDevices, g.config.timeout(), cause)
}

// maxLastLosses is how many devices, with none beside them, may be lost without
// getting any further.
const maxLastLosses = 10

// countLastLoss counts the losses of last devices since the run got on (a step,
// a part of an evaluation), or a replay brought it closer. From the second on
// replays renew the snapshot on the way: a device that always dies soon after a
// replay, or in it, gets on all the same.
func (g *Group) countLastLoss(cause error) error {
	if at := g.stepper.reached(); at != g.reached {
		g.reached, g.lastLosses = at, 0
	}
	if g.lastLosses++; g.lastLosses > 1 {
		g.stepper.renewOften()
	}
	if g.lastLosses > maxLastLosses {
		return fmt.Errorf("%w: %d devices were lost one after the other and none has come beyond step %d: %w",
			NoDevices, g.lastLosses, g.stepper.Version(), cause)
	}
	return nil
}

// progressed notes that the run got on by something else than a step.
func (g *Group) progressed() { g.lastLosses = 0 }

// rejoinAlone makes m a member when there is no other, and brings it to the
// present state. lost is why it was lost once more; fatal, why the run cannot go on.
func (g *Group) rejoinAlone(ctx context.Context, m *member) (lost, fatal error) {
	v, state := g.stepper.snapshot()
	if lost, fatal = g.rejoin(ctx, m, v, state); lost != nil || fatal != nil {
		return lost, fatal
	}
	if err := g.regroup(ctx); err != nil {
		return err, g.drop(err)
	}
	if lost = g.stepper.replay(ctx, m); lost != nil {
		return lost, g.drop(lost)
	}
	return nil, nil
}

// rejoin makes a device that was opened again a member, with the program and
// a state of version v. failed is why it was lost once more; fatal, why the run
// cannot go on.
func (g *Group) rejoin(ctx context.Context, m *member, v device.Version, state map[string]tensor.Tensor) (
	failed, fatal error) {
	g.reopener.devices = append(g.reopener.devices, m.Device)
	m.base = v
	g.admit(m)
	err := g.place()
	if err == nil {
		err = g.withDeadline(m, func() (err error) {
			if m.exe, err = m.Device.Load(ctx, g.program, m.capacity); err != nil {
				return err
			}
			return writeState(ctx, m.exe, g.program, state)
		})
	}
	if err != nil {
		failed = &lost{m, m.named(err)}
		return failed, g.drop(failed)
	}
	if g.config.Back != nil {
		g.config.Back(BackEvent{Device: m.Name, Step: uint64(v)})
	}
	return nil, nil
}
