package parallel

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/bnctl/bnctl/device"
)

// A goroutine for each lost device opens it again. It hands over the device and ends; the
// driver's goroutine admits the device between two runs (rejoin), so that members never
// appear while a run is in progress.
//
//	lost --> pause --> open --error--> longer pause --> open ...
//	                     |
//	                     ok --> reopened (channel) --> pending --> member

// A device that dies before it has finished a step, or soon after another loss, is opened
// again after a pause that doubles every time.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 8 * time.Second // so that a machine that was away for long is used again within 10 s
)

// reopener opens lost devices again, each in a separate goroutine, and receives devices that join the
// run. Devices that come while every replica has a device wait.
type reopener struct {
	ctx       context.Context
	cancel    context.CancelFunc
	wait      *sync.WaitGroup
	reopened  chan *member
	closed    chan error      // reason why devices will not be opened any more
	pending   *member         // a reopened or joining device that is not a member yet
	devices   []device.Device // devices that were pending and became members
	joins     <-chan Member   // Config.Joins
	nextOrder int             // member.order of the next device that joins
	hasRoom   func() bool     // reports whether one more member has a replica
}

// newReopener returns the reopener of a group that begins with that number of devices.
func newReopener(devices int, joins <-chan Member, hasRoom func() bool) reopener {
	ctx, cancel := context.WithCancel(context.Background())
	return reopener{ctx: ctx, cancel: cancel, wait: &sync.WaitGroup{}, reopened: make(chan *member),
		closed: make(chan error, 1), joins: joins, nextOrder: devices, hasRoom: hasRoom}
}

// schedule opens the device of a lost member again: at once if it had finished a step and
// was not lost shortly before, otherwise after a pause. It retries until it succeeds or the
// fleet is closed.
func (r *reopener) schedule(was *member, open func(context.Context, string) (device.Device, error)) {
	m := &member{Member: Member{Name: was.Name, Foreign: was.Foreign}, order: was.order, stage: was.stage,
		pause: was.rest()}
	r.wait.Go(func() {
		for pause := m.pause; ; pause = min(max(2*pause, firstPause), lastPause) {
			select {
			case <-time.After(pause):
			case <-r.ctx.Done():
				return
			}
			d, err := open(r.ctx, m.Name)
			if errors.Is(err, Withdrawn) {
				return
			}
			if errors.Is(err, FleetClosed) {
				select {
				case r.closed <- err:
				default: // the reason is already known from another device
				}
				return
			}
			if err != nil {
				continue // the pauses grow; a run without any device ends by itself
			}
			m.Device = d
			select {
			case r.reopened <- m:
			case <-r.ctx.Done():
				_ = d.Close()
			}
			return
		}
	})
}

// rest returns the pause before a lost device is opened again.
func (m *member) rest() time.Duration {
	if m.steps > 0 {
		return m.again
	}
	return max(m.again, min(max(2*m.pause, firstPause), lastPause))
}

// forget drops a device that was opened here and is closed.
func (r *reopener) forget(lost device.Device) {
	r.devices = slices.DeleteFunc(r.devices, func(d device.Device) bool { return d == lost })
}

// close stops all attempts and closes the devices opened here.
func (r *reopener) close() error {
	r.cancel()
	r.wait.Wait()
	if r.pending != nil {
		r.devices = append(r.devices, r.pending.Device)
	}
	var errs []error
	for _, d := range r.devices {
		if err := d.Close(); !errors.Is(err, device.Lost) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// hasPending reports whether a device is waiting to become a member.
func (r *reopener) hasPending() bool {
	if r.pending == nil && r.hasRoom() {
		select {
		case r.pending = <-r.reopened:
		case m := <-r.joins:
			r.pending = r.newcomer(m)
		default:
		}
	}
	return r.pending != nil
}

// newcomer returns a member for a device that joins.
func (r *reopener) newcomer(m Member) *member {
	r.nextOrder++
	return &member{Member: m, order: r.nextOrder - 1, isNew: true}
}

// next returns the pending device, or the first that is opened or joins before ctx ends.
// Otherwise the error is the cause of ctx, or the reason why devices will not be opened any
// more.
func (r *reopener) next(ctx context.Context) (*member, error) {
	if !r.hasPending() {
		select {
		case r.pending = <-r.reopened:
		case m := <-r.joins:
			r.pending = r.newcomer(m)
		case err := <-r.closed:
			return nil, err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	m := r.pending
	r.pending = nil
	return m, nil
}
