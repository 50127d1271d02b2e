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
func (d *Driver) mark(m *member, err error) error {
	if errors.Is(err, device.OutOfMemory) {
		return &lost{m, err}
	}
	return d.markGone(m, err)
}

// markGone is mark where too little memory is an error as others are.
func (d *Driver) markGone(m *member, err error) error {
	switch {
	case err == nil:
		return nil
	case m.hung.Load():
		return &lost{m, device.Errorf(m.Name, "Run", device.Lost, "kept the others waiting for %v",
			d.config.timeout())}
	case errors.Is(err, device.Lost):
		return &lost{m, err}
	}
	return err
}

// recover makes the group ready to run again after err, or returns why it
// cannot: err is not about a lost device, or none is left and none comes back.
func (d *Driver) recover(ctx context.Context, err error) error {
	for err != nil {
		if err := d.drop(err); err != nil {
			return err
		}
		if len(d.members) == 0 {
			if err := d.await(ctx, err); err != nil {
				return err
			}
		}
		err = d.regroup(ctx)
	}
	return nil
}

// drop removes the member that err says is lost, ends it, and sees to it that
// it is opened again. It returns err if it says no such thing.
func (d *Driver) drop(err error) error {
	var l *lost
	if !errors.As(err, &l) {
		return err
	}
	rest := d.members[:0:0]
	for _, m := range d.members {
		if m != l.member {
			rest = append(rest, m)
		}
	}
	d.members, d.stale = rest, true
	_ = l.member.Device.Close() // it is lost: what it says about that is of no use
	d.returns.forget(l.member.Device)
	if d.config.Lost != nil {
		d.config.Lost(LossEvent{Device: l.member.Name, Step: uint64(d.version), Reason: l.err,
			MovedTo: d.Devices()})
	}
	if d.config.Reopen != nil && !errors.Is(l.err, device.Unsupported) { // that it will not learn
		d.returns.schedule(l.member, d.config.Reopen)
		return nil
	}
	if len(rest) == 0 {
		return fmt.Errorf("%w: %w", NoDevices, err)
	}
	return nil
}

// regroup places the replicas on the present members and makes a new
// generation. What the last Step kept counts no more: not all members have it.
func (d *Driver) regroup(ctx context.Context) error {
	d.kept = false
	if err := d.place(); err != nil {
		return err
	}
	err := d.each(func(m *member) error {
		return d.limited(m,
			func() error { return m.exe.Grow(ctx, m.capacity) })
	})
	if err != nil {
		return err
	}
	return d.join(ctx)
}
