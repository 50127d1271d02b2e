package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Executable is a loaded program and its version. It implements device.Executable.
type Executable struct {
	device   *Device
	program  *graph.Program
	states   map[string]graph.State // states of the program, by name
	runner   Runner
	runnable *graph.Program // the form of the program that the runner has loaded
	stage    *stage         // nil if the program is not the program of a stage
	capacity device.Capacity
	version  device.Version
	retained bool // graph.Train has run at this version, and the values that it keeps are unchanged
	closed   bool
}

// Runner returns the Runner of the program.
func (x *Executable) Runner() Runner { return x.runner }

func newExecutable(d *Device, p, runnable *graph.Program, r Runner, c device.Capacity) *Executable {
	x := &Executable{device: d, program: p, states: map[string]graph.State{}, runner: r, capacity: c,
		runnable: runnable, stage: newStage(d.name, p, r)}
	for _, s := range p.State {
		x.states[s.Name] = s
	}
	return x
}

// begin starts a call.
func (x *Executable) begin(ctx context.Context, call string) (context.Context, func(), error) {
	ctx, done, err := x.device.calls.begin(ctx, call)
	if err == nil && x.closed {
		done()
		return nil, nil, x.device.invalid(call, errors.New("the executable is closed"))
	}
	return ctx, done, err
}

// Needs implements device.Executable. It includes the slots that the Runner does not keep,
// for the number of slots that are in use at a time.
func (x *Executable) Needs() device.Needs {
	n := x.runner.Needs()
	if x.stage == nil || x.stage.runner != nil {
		return n
	}
	f := x.program.Function(graph.Forward)
	if f == nil { // a stage without Forward, which has only the loss, keeps nothing between passes
		return n
	}
	for _, o := range f.Outputs {
		t := f.Values[o.Value].Type
		size := int64(max(x.capacity.Slots, 1) * tensor.Count(t.Shape) * t.DType.Size())
		switch {
		case !o.Keep:
		case t.Kind == graph.Rows:
			n.PerRow += size
		case t.Kind == graph.Replica:
			n.Fixed += size * int64(x.capacity.Replicas)
		default:
			n.Fixed += size
		}
	}
	return n
}

// Grow implements device.Executable.
func (x *Executable) Grow(ctx context.Context, c device.Capacity) error {
	const call = "Grow"
	_, done, err := x.begin(ctx, call)
	if err != nil {
		return err
	}
	defer done()
	if err := c.Check(); err != nil {
		return x.device.invalid(call, err)
	}
	c = x.capacity.With(c)
	if err := x.runner.Grow(c, x.retained); err != nil {
		return device.Wrap(x.device.name, call, err)
	}
	x.capacity = c
	return nil
}

// Write implements device.Executable.
func (x *Executable) Write(ctx context.Context, name string, t tensor.Tensor) error {
	const call = "Write"
	_, done, err := x.begin(ctx, call)
	if err != nil {
		return err
	}
	defer done()
	s, err := x.declared(name)
	if err == nil && !fits(s, t) {
		err = fmt.Errorf("state %s is %s, got %v", name, tensor.Describe(s.DType, s.Shape), t)
	}
	if err != nil {
		return x.device.invalid(call, err)
	}
	return device.Wrap(x.device.name, call, x.runner.Write(name, t))
}

// WriteAll implements device.Executable.
func (x *Executable) WriteAll(ctx context.Context, names []string, state map[string]tensor.Tensor) error {
	return device.WriteEach(ctx, x, names, state)
}

// Read implements device.Executable.
func (x *Executable) Read(ctx context.Context, name string) (tensor.Tensor, error) {
	return x.read(ctx, name, x.runner.Read)
}

// View implements device.Viewer.
func (x *Executable) View(ctx context.Context, name string) (tensor.Tensor, error) {
	if v, ok := x.runner.(ViewRunner); ok {
		return x.read(ctx, name, v.View)
	}
	return x.read(ctx, name, x.runner.Read)
}

func (x *Executable) read(ctx context.Context, name string, read func(string) (tensor.Tensor, error)) (
	tensor.Tensor, error) {
	const call = "Read"
	_, done, err := x.begin(ctx, call)
	if err != nil {
		return tensor.Tensor{}, err
	}
	defer done()
	if _, err := x.declared(name); err != nil {
		return tensor.Tensor{}, x.device.invalid(call, err)
	}
	t, err := read(name)
	return t, device.Wrap(x.device.name, call, err)
}

// Reuse implements device.Reuser. It does nothing unless the Runner implements device.Reuser.
func (x *Executable) Reuse(outputs []tensor.Tensor) {
	if r, ok := x.runner.(device.Reuser); ok {
		x.device.calls.between(func() {
			if !x.closed {
				r.Reuse(outputs)
			}
		})
	}
}

// Close implements device.Executable.
func (x *Executable) Close() error {
	x.device.calls.between(x.free)
	return nil
}

// free closes the Runner, once.
func (x *Executable) free() {
	if x.closed {
		return
	}
	x.closed, x.retained, x.stage = true, false, nil
	x.runner.Close()
	x.device.loaded = slices.DeleteFunc(x.device.loaded, func(y *Executable) bool { return y == x })
}

// declared returns the declaration of a state tensor.
func (x *Executable) declared(name string) (graph.State, error) {
	s, ok := x.states[name]
	if !ok {
		return s, fmt.Errorf("no state is called %q", name)
	}
	return s, nil
}

// fits reports whether t has the type and shape of a state tensor, and the bytes of that shape.
func fits(s graph.State, t tensor.Tensor) bool {
	return t.DType == s.DType && slices.Equal(t.Shape, s.Shape) &&
		len(t.Bytes) == tensor.Count(s.Shape)*s.DType.Size()
}
