package ref

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/bnctl/bnctl/collective"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// dev implements device.Device.
type dev struct {
	name       string
	ops        []graph.Op
	precisions []string
	bf16       bool            // opened at precision device.BF16
	class      string          // whose definitions it computes; "": none
	closed     context.Context // ends when the device is closed
	end        context.CancelCauseFunc

	mu    sync.Mutex // held by every call but Info and Close
	group device.Group
}

var errClosed = errors.New("the device is closed")

// New returns a reference device that errors and logs call name. It refuses
// the operations in without, as other devices refuse what they lack.
// It has precision device.F32 alone; those of Provider have all.
func New(name string, without ...graph.Op) device.Device {
	return newDev(name, []string{device.F32}, without...)
}

func newDev(name string, precisions []string, without ...graph.Op) *dev {
	d := &dev{name: name, precisions: precisions}
	d.ops = slices.DeleteFunc(Ops(), func(o graph.Op) bool { return slices.Contains(without, o) })
	d.closed, d.end = context.WithCancelCause(context.Background())
	return d
}

// Info implements device.Device.
func (d *dev) Info() device.Info {
	info := device.Info{
		ID: device.DefaultID, Name: d.name, Description: "reference device: plain loops, float64 sums",
		Kernels: "ref", Threads: 1, Ops: slices.Clone(d.ops),
		Features: []string{device.Deterministic, device.ExactUpdates, device.FiniteUpdates,
			device.Profile},
		Levels: []string{device.InProcess}, Precisions: slices.Clone(d.precisions),
	}
	if d.class != "" {
		info.Description, info.Kernels = "the definitions of class "+d.class+", in plain loops", d.class
		// Folded nodes have no times of their own.
		info.Features = slices.DeleteFunc(info.Features, func(f string) bool { return f == device.Profile })
	}
	return info
}

// Ops returns the operations that have a loop here, in the order of their
// numbers: all but those of the host.
func Ops() []graph.Op {
	ops := []graph.Op{graph.AllReduce}
	for o := range loops {
		ops = append(ops, o)
	}
	slices.Sort(ops)
	return ops
}

// Load implements device.Device.
func (d *dev) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	const call = "Load"
	done, err := d.begin(ctx, call)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := p.Check(); err != nil {
		return nil, device.Errorf(d.name, call, device.Invalid, "%w", err)
	}
	if err := checkCapacity(c); err != nil {
		return nil, device.Errorf(d.name, call, device.Invalid, "%w", err)
	}
	if r := d.refuse(p); len(r.Nodes) > 0 {
		return nil, device.Errorf(d.name, call, device.Unsupported, "%w", &r)
	}
	return newExecutable(d, p, c), nil
}

func checkCapacity(c device.Capacity) error {
	if c.Rows < 0 || c.Replicas < 0 {
		return fmt.Errorf("capacity of %d rows in %d replicas", c.Rows, c.Replicas)
	}
	return nil
}

// Join implements device.Device.
func (d *dev) Join(ctx context.Context, g device.Group) error {
	done, err := d.begin(ctx, "Join")
	if err != nil {
		return err
	}
	defer done()
	if err := g.Check(); err != nil {
		return device.Errorf(d.name, "Join", device.Invalid, "%w", err)
	}
	d.group = g
	return nil
}

// Close implements device.Device.
func (d *dev) Close() error {
	d.end(errClosed)
	return nil
}

// begin takes the device for one call and returns what gives it back.
func (d *dev) begin(ctx context.Context, call string) (done func(), err error) {
	d.mu.Lock()
	if d.closed.Err() != nil {
		d.mu.Unlock()
		return nil, device.Errorf(d.name, call, device.Invalid, "%w", errClosed)
	}
	if err := ctx.Err(); err != nil {
		d.mu.Unlock()
		return nil, device.Errorf(d.name, call, device.Canceled, "%w", err)
	}
	return d.mu.Unlock, nil
}

// wrap gives an error of a run its device, call and kind: Invalid, which is
// what members that disagree and impossible operands are, unless the exchange
// knows better.
func (d *dev) wrap(call string, err error) error {
	kind := device.KindOf(err)
	if kind == device.Other {
		kind = device.Invalid
	}
	switch {
	case errors.Is(err, collective.Aborted):
		kind = device.Aborted
	case errors.Is(err, errClosed), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		kind = device.Canceled
	}
	return device.Errorf(d.name, call, kind, "%w", err)
}
