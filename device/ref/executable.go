package ref

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// executable implements device.Executable.
type executable struct {
	dev      *dev
	program  *graph.Program
	capacity device.Capacity
	state    map[string]tensor.Tensor
	version  device.Version
	kept     map[string]*array // by output name: what train kept
	keptAt   device.Version    // the version that train read
	norms    map[*graph.Function]map[graph.Value]class.Norm
	closed   bool
}

func newExecutable(d *dev, p *graph.Program, c device.Capacity) *executable {
	x := &executable{dev: d, program: p, capacity: c, state: map[string]tensor.Tensor{}}
	if d.class != "" {
		x.program, x.norms = fold(p)
	}
	for _, s := range p.State {
		x.state[s.Name] = tensor.New(s.DType, s.Shape...)
	}
	return x
}

// begin starts a call.
func (x *executable) begin(ctx context.Context, call string) (context.Context, func(), error) {
	ctx, done, err := x.dev.calls.Begin(ctx, call)
	if err == nil && x.closed {
		done()
		return nil, nil, x.invalid(call, "the executable is closed")
	}
	return ctx, done, err
}

func (x *executable) invalid(call, format string, args ...any) error {
	return device.Errorf(x.dev.name, call, device.Invalid, format, args...)
}

// Needs implements device.Executable: the state, and eight bytes for each
// element of the largest function's rows values, as if none were dropped.
func (x *executable) Needs() device.Needs {
	var n device.Needs
	for _, t := range x.state {
		n.Fixed += int64(len(t.Bytes))
	}
	for _, f := range x.program.Functions {
		var row int64
		for _, v := range f.Values {
			if v.Type.Kind == graph.Rows {
				row += 8 * int64(tensor.Count(v.Type.Shape))
			}
		}
		n.PerRow = max(n.PerRow, row)
	}
	return n
}

// Grow implements device.Executable.
func (x *executable) Grow(ctx context.Context, c device.Capacity) error {
	_, done, err := x.begin(ctx, "Grow")
	if err != nil {
		return err
	}
	defer done()
	if err := c.Check(); err != nil {
		return x.invalid("Grow", "%w", err)
	}
	x.capacity = x.capacity.With(c)
	return nil
}

// Write implements device.Executable.
func (x *executable) Write(ctx context.Context, name string, t tensor.Tensor) error {
	_, done, err := x.begin(ctx, "Write")
	if err != nil {
		return err
	}
	defer done()
	have, err := device.StateNamed(x.state, name)
	if err == nil {
		err = device.CheckState(name, have.DType, have.Shape, t)
	}
	if err != nil {
		return x.invalid("Write", "%w", err)
	}
	x.state[name] = t.Clone()
	return nil
}

// WriteAll implements device.Executable.
func (x *executable) WriteAll(ctx context.Context, names []string, state map[string]tensor.Tensor) error {
	return device.WriteEach(ctx, x, names, state)
}

// Read implements device.Executable.
func (x *executable) Read(ctx context.Context, name string) (tensor.Tensor, error) {
	_, done, err := x.begin(ctx, "Read")
	if err != nil {
		return tensor.Tensor{}, err
	}
	defer done()
	t, err := device.StateNamed(x.state, name)
	if err != nil {
		return t, x.invalid("Read", "%w", err)
	}
	return t.Clone(), nil
}

// Close implements device.Executable.
func (x *executable) Close() error {
	x.dev.calls.Between(func() { x.closed, x.state, x.kept = true, nil, nil })
	return nil
}
