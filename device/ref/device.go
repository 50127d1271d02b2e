package ref

import (
	"context"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// dev implements device.Device.
type dev struct {
	name       string
	ops        []graph.Op
	precisions []string
	bf16       bool   // opened at precision device.BF16
	class      string // whose definitions it computes; "": none
	calls      *device.Calls
	group      *device.Group // nil: this device holds all replicas
}

// New returns a reference device with that name in errors and logs. It refuses
// the operations in without, as a device refuses operations that it lacks. It
// has precision device.F32 alone; the devices of Provider have all precisions.
func New(name string, without ...graph.Op) device.Device {
	return newDev(name, []string{device.F32}, without...)
}

func newDev(name string, precisions []string, without ...graph.Op) *dev {
	d := &dev{name: name, precisions: precisions, calls: device.NewCalls(name)}
	d.ops = slices.DeleteFunc(Ops(), func(o graph.Op) bool { return slices.Contains(without, o) })
	return d
}

// Info implements device.Device.
func (d *dev) Info() device.Info {
	info := device.Info{
		ID: device.DefaultID, Name: d.name, Description: "reference device: plain loops, float64 sums",
		Kernels: class.Ref, Threads: 1, Ops: slices.Clone(d.ops),
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
	_, done, err := d.calls.Begin(ctx, call)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := device.CheckProgram(d.name, p); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, device.Errorf(d.name, call, device.Invalid, "%w", err)
	}
	if r := d.refuse(p); len(r.Nodes) > 0 {
		return nil, device.Errorf(d.name, call, device.Unsupported, "%w", &r)
	}
	return newExecutable(d, p, c), nil
}

// Join implements device.Device.
func (d *dev) Join(ctx context.Context, g device.Group) error {
	_, done, err := d.calls.Begin(ctx, "Join")
	if err != nil {
		return err
	}
	defer done()
	if err := g.Check(); err != nil {
		return device.Errorf(d.name, "Join", device.Invalid, "%w", err)
	}
	d.group = &g
	return nil
}

// Close implements device.Device.
func (d *dev) Close() error {
	d.calls.Close(func() {})
	return nil
}

// wrap is device.Wrap for the errors of a run. What has no kind is Invalid: members
// that disagree, and operands that cannot be.
func (d *dev) wrap(call string, err error) error {
	if err := device.Wrap(d.name, call, err); device.KindOf(err) != device.Other {
		return err
	}
	return device.Errorf(d.name, call, device.Invalid, "%w", err)
}
