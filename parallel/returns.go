package parallel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

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

// close ends what is under way and closes what was opened here.
func (r *returns) close() error {
	r.cancel()
	r.wait.Wait()
	var errs []error
	for _, d := range r.own {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}

// welcome takes in the devices that came back since the last step.
func (d *Driver) welcome(ctx context.Context) error {
	for {
		select {
		case m := <-d.returns.opened:
			state, err := d.State(ctx)
			if err != nil {
				return err
			}
			if err := d.take(ctx, m, d.version, state); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// await waits for a device when none is left, and brings it to the present
// state. cause is why the last one was lost.
func (d *Driver) await(ctx context.Context, cause error) error {
	for len(d.members) == 0 {
		select {
		case m := <-d.returns.opened:
			if err := d.take(ctx, m, d.ledger.version, d.ledger.state); err != nil {
				return err
			}
			if err := d.replay(ctx); err != nil {
				if err := d.drop(err); err != nil {
					return err
				}
			}
		case <-time.After(d.config.timeout()):
			return fmt.Errorf("%w, and none came back within %v: %w", NoDevices, d.config.timeout(), cause)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// take loads the program and a state on a device that came back. If that
// fails the device is lost once more.
func (d *Driver) take(ctx context.Context, m *member, v device.Version, state map[string]tensor.Tensor) error {
	d.returns.own = append(d.returns.own, m.Device)
	m.base = v
	before := d.members
	d.members = append(slices.Clone(before), m)
	slices.SortFunc(d.members, func(a, b *member) int { return cmp.Compare(a.order, b.order) })
	d.stale = true
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
		return d.drop(&lost{m, m.named(err)})
	}
	if d.config.Back != nil {
		d.config.Back(BackEvent{Device: m.Name, Step: uint64(v)})
	}
	return nil
}

// replay brings the only member from the snapshot to the present version.
func (d *Driver) replay(ctx context.Context) error {
	if len(d.members) == 0 {
		return nil
	}
	if err := d.regroup(ctx); err != nil {
		return err
	}
	m, train := d.members[0], d.program.Function(graph.Train)
	for i, e := range d.ledger.entries {
		v := d.ledger.version + device.Version(i)
		if err := d.limited(m, func() error { return d.repeat(ctx, m, train, v, e) }); err != nil {
			return err
		}
	}
	return d.limited(m, func() error { return writeState(ctx, m.exe, d.program, d.ledger.writes) })
}

// repeat makes one step of the ledger again.
func (d *Driver) repeat(ctx context.Context, m *member, train *graph.Function, v device.Version, e entry) error {
	if err := writeState(ctx, m.exe, d.program, e.writes); err != nil {
		return err
	}
	d.runs++
	if _, err := m.exe.Run(ctx, d.step(train, e.batch, m.replicas)); err != nil {
		return err
	}
	m.steps++
	return m.commit(ctx, v, e.hyper)
}
