package parallel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bnctl/bnctl/awake"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// BackEvent tells of a device that takes part again.
type BackEvent struct {
	Device string
	Step   uint64 // version of the state
}

// A device that dies without having finished a step is opened again after a
// pause that doubles every time.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 30 * time.Second
)

// returns opens lost devices again, each in a goroutine of its own.
type returns struct {
	ctx    context.Context
	cancel context.CancelFunc
	wait   *sync.WaitGroup
	opened chan *member
	door   *member         // opened, and waiting to be let in
	own    []device.Device // that were opened here
}

func newReturns() returns {
	ctx, cancel := context.WithCancel(context.Background())
	return returns{ctx: ctx, cancel: cancel, wait: &sync.WaitGroup{}, opened: make(chan *member)}
}

// schedule opens the device of a lost member again: at once if it had
// finished a step, else after a pause. It tries until it succeeds.
func (r *returns) schedule(was *member, open func(context.Context, string) (device.Device, error)) {
	m := &member{Member: Member{Name: was.Name}, order: was.order}
	if was.steps == 0 {
		m.pause = min(max(2*was.pause, firstPause), lastPause)
	}
	r.wait.Go(func() {
		for pause := m.pause; ; pause = min(max(2*pause, firstPause), lastPause) {
			select {
			case <-time.After(pause):
			case <-r.ctx.Done():
				return
			}
			d, err := open(r.ctx, m.Name)
			if err != nil {
				continue // the next pause is longer; a run without any device gives up by itself
			}
			m.Device = d
			select {
			case r.opened <- m:
			case <-r.ctx.Done():
				_ = d.Close()
			}
			return
		}
	})
}

// forget drops a device that was opened here and is closed.
func (r *returns) forget(gone device.Device) {
	r.own = slices.DeleteFunc(r.own, func(d device.Device) bool { return d == gone })
}

// close ends what is under way and closes what was opened here.
func (r *returns) close() error {
	r.cancel()
	r.wait.Wait()
	if r.door != nil {
		r.own = append(r.own, r.door.Device)
	}
	var errs []error
	for _, d := range r.own {
		if err := d.Close(); !errors.Is(err, device.Lost) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// knocked reports whether a device waits to be let in.
func (r *returns) knocked() bool {
	if r.door == nil {
		select {
		case r.door = <-r.opened:
		default:
		}
	}
	return r.door != nil
}

// next lets in the device that waits, or the first to come until ctx ends;
// then it returns nil.
func (r *returns) next(ctx context.Context) *member {
	if !r.knocked() {
		select {
		case r.door = <-r.opened:
		case <-ctx.Done():
		}
	}
	m := r.door
	r.door = nil
	return m
}

// welcome takes in the devices that came back since the last step.
func (d *Driver) welcome(ctx context.Context) error {
	for d.returns.knocked() {
		state, err := d.State(ctx)
		if err != nil {
			return err
		}
		if !d.returns.knocked() {
			break // it was let in because all others were lost meanwhile
		}
		if _, err := d.take(ctx, d.returns.next(ctx), d.version, state); err != nil {
			return err
		}
	}
	return nil
}

// await waits for a device when none is left, and brings it to the present
// state. cause is why the last one was lost. It gives up when none comes
// within the time-out, or when too many came and got no further.
func (d *Driver) await(ctx context.Context, cause error) error {
	for err := cause; len(d.members) == 0; {
		if err := d.mourn(err); err != nil {
			return err
		}
		m, missed := d.nextWithin(ctx, err)
		if missed != nil {
			return missed
		}
		var fatal error
		if err, fatal = d.bring(ctx, m); fatal != nil {
			return fatal
		}
	}
	return nil
}

// nextWithin returns the next device to come back within the time-out. cause is
// why the last one was lost.
func (d *Driver) nextWithin(ctx context.Context, cause error) (*member, error) {
	waiting, stop := awake.WithTimeout(ctx, d.config.timeout())
	defer stop()
	m := d.returns.next(waiting)
	switch {
	case m != nil:
		return m, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("%w, and none came back within %v: %w", NoDevices, d.config.timeout(), cause)
}

// lastDeaths is how many devices, with none beside them, may be lost without
// getting any further.
const lastDeaths = 10

// mourn counts the losses of last devices since the run got on (a step, a part
// of an evaluation), or a replay brought it closer. From the second on replays
// renew the snapshot on the way: a device that always dies soon after a replay,
// or in it, gets on all the same.
func (d *Driver) mourn(cause error) error {
	if at := d.version + d.ledger.version; at != d.reached {
		d.reached, d.deaths = at, 0
	}
	if d.deaths++; d.deaths > 1 {
		longest := len(d.ledger.entries)
		if d.stride > 0 {
			longest = min(longest, d.stride)
		}
		d.stride = max(1, longest/2)
	}
	if d.deaths > lastDeaths {
		return fmt.Errorf("%w: %d devices were lost one after the other and none has come beyond step %d: %w",
			NoDevices, d.deaths, d.version, cause)
	}
	return nil
}

// bring takes in a device when there is no other. lost is why that was lost
// once more; fatal, why the run cannot go on.
func (d *Driver) bring(ctx context.Context, m *member) (lost, fatal error) {
	if lost, fatal = d.take(ctx, m, d.ledger.version, d.ledger.state); lost != nil || fatal != nil {
		return lost, fatal
	}
	if lost = d.replay(ctx, m); lost != nil {
		return lost, d.drop(lost)
	}
	return nil, nil
}

// take loads the program and a state on a device that came back. failed is why
// it was lost once more; fatal, why the run cannot go on.
func (d *Driver) take(ctx context.Context, m *member, v device.Version, state map[string]tensor.Tensor) (
	failed, fatal error) {
	d.returns.own = append(d.returns.own, m.Device)
	m.base = v
	d.admit(m)
	err := d.place()
	if err == nil {
		err = d.limited(m, func() (err error) {
			if m.exe, err = m.Device.Load(ctx, d.program, m.capacity); err != nil {
				return err
			}
			return writeState(ctx, m.exe, d.program, state)
		})
	}
	if err != nil {
		failed = &lost{m, m.named(err)}
		return failed, d.drop(failed)
	}
	if d.config.Back != nil {
		d.config.Back(BackEvent{Device: m.Name, Step: uint64(v)})
	}
	return nil, nil
}

// replay brings m, the only member, from the snapshot to the present version.
// It renews the snapshot after every stride steps.
func (d *Driver) replay(ctx context.Context, m *member) error {
	if err := d.regroup(ctx); err != nil {
		return err
	}
	for done := 0; done < len(d.ledger.entries); {
		v := d.ledger.version + device.Version(done)
		err := d.limited(m, func() error { return d.repeat(ctx, m, v, d.ledger.entries[done]) })
		if err != nil {
			return err
		}
		if done++; d.stride > 0 && done == d.stride {
			if err := d.renew(ctx, m, done); err != nil {
				return err
			}
			done = 0
		}
	}
	return d.limited(m, func() error { return writeState(ctx, m.exe, d.program, d.ledger.writes) })
}

// renew makes the state of a member that has repeated so many steps the snapshot.
func (d *Driver) renew(ctx context.Context, m *member, steps int) error {
	return d.limited(m, func() error {
		state, err := d.read(ctx, m)
		if err == nil {
			d.ledger.advance(steps, state)
		}
		return err
	})
}

// repeat makes one step of the ledger again.
func (d *Driver) repeat(ctx context.Context, m *member, v device.Version, e entry) error {
	if err := writeState(ctx, m.exe, d.program, e.writes); err != nil {
		return err
	}
	d.runs++
	if _, err := m.exe.Run(ctx, d.step(d.program.Function(graph.Train), e.batch, m.replicas)); err != nil {
		return err
	}
	m.steps++
	return m.commit(ctx, v, e.hyper)
}
