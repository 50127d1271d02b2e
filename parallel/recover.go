package parallel

import (
	"context"
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/device"
)

// LossEvent tells of a device that was lost.
type LossEvent struct {
	Device  string
	Step    uint64 // version of the state
	Reason  error
	MovedTo []string // the devices that its replicas moved to; none if it was the last
}

// NoDevices is what a driver's calls wrap when the last device was lost and
// none came back in time.
var NoDevices = errors.New("no device is left")

// FleetClosed is what the error of Config.Reopen wraps if no device will be opened
// any more. A run that has none left ends with it at once.
var FleetClosed = errors.New("the fleet is closed")

// lost marks the error of a member that is gone.
type lost struct {
	member *member
	err    error
}

func (l *lost) Error() string { return l.err.Error() }
func (l *lost) Unwrap() error { return l.err }

// mark wraps an error of m so that recovery knows whom it is about. A device
// that has too little memory for what it did before, or for the replicas of a
// lost one, is of no more use than one that died.
func (g *Group) mark(m *member, err error) error {
	if errors.Is(err, device.OutOfMemory) {
		return &lost{m, err}
	}
	return g.markGone(m, err)
}

// markGone is mark where too little memory is an error as others are.
func (g *Group) markGone(m *member, err error) error {
	switch {
	case err == nil:
		return nil
	case m.hung.Load():
		return &lost{m, device.Errorf(m.Name, "Run", device.Lost, "kept the others waiting for %v",
			g.config.timeout())}
	case errors.Is(err, device.Lost):
		return &lost{m, err}
	}
	return err
}

// recover makes the group ready to run again after err, or returns why it
// cannot: err is not about a lost device, or none is left and none comes back.
func (g *Group) recover(ctx context.Context, err error) error {
	for err != nil {
		if err := g.replaceLost(ctx, err); err != nil {
			return err
		}
		err = g.regroup(ctx)
	}
	return nil
}

// replaceLost drops the member that err says is lost. If there is no other it
// waits for one that comes back. It returns err if it says no such thing.
func (g *Group) replaceLost(ctx context.Context, err error) error {
	if err := g.drop(err); err != nil || len(g.members) > 0 {
		return err
	}
	if g.config.Peers != nil && g.stepper.Version() > 0 { // a replay needs the others, and they have gone on
		return &emptied{fmt.Errorf("%w: %w", NoDevices, err)}
	}
	return g.awaitOne(ctx, err)
}

// drop removes the member that err says is lost, ends it, and sees to it that
// it is opened again. It returns err if it says no such thing.
func (g *Group) drop(err error) error {
	var l *lost
	if !errors.As(err, &l) {
		return err
	}
	rest := g.members[:0:0]
	for _, m := range g.members {
		if m != l.member {
			rest = append(rest, m)
		}
	}
	g.members, g.stale = rest, true
	_ = l.member.Device.Close() // it is lost: what it says about that is of no use
	g.reopener.forget(l.member.Device)
	if g.config.Lost != nil {
		g.config.Lost(LossEvent{Device: l.member.Name, Step: uint64(g.stepper.Version()), Reason: l.err,
			MovedTo: g.Devices()})
	}
	if g.config.Reopen != nil && !errors.Is(l.err, device.Unsupported) { // that it will not learn
		g.reopener.schedule(l.member, g.config.Reopen)
		return nil
	}
	if len(rest) == 0 {
		return fmt.Errorf("%w: %w", NoDevices, err)
	}
	return nil
}

// ready takes in who came back and forms the group anew if it changed: what
// comes before every run.
func (g *Group) ready(ctx context.Context) error {
	if err := g.rejoinPending(ctx); err != nil || !g.stale {
		return err
	}
	return g.regroup(ctx)
}

// regroup places the replicas on the present members and makes a new
// generation.
func (g *Group) regroup(ctx context.Context) error {
	g.stepper.regrouped()
	if err := g.place(); err != nil {
		return err
	}
	err := g.eachAlone(func(_ int, m *member) error { return m.exe.Grow(ctx, m.capacity) })
	if err != nil {
		return err
	}
	return g.join(ctx)
}
