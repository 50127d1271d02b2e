package ref

import (
	"context"
	"slices"

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

// begin takes the device for one call.
func (x *executable) begin(ctx context.Context, call string) (done func(), err error) {
	done, err = x.dev.begin(ctx, call)
	if err == nil && x.closed {
		done()
		return nil, x.invalid(call, "the executable is closed")
	}
	return done, err
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
	done, err := x.begin(ctx, "Grow")
	if err != nil {
		return err
	}
	defer done()
	if err := checkCapacity(c); err != nil {
		return x.invalid("Grow", "%w", err)
	}
	x.capacity = device.Capacity{Rows: max(x.capacity.Rows, c.Rows),
		Replicas: max(x.capacity.Replicas, c.Replicas)}
	return nil
}

// Write implements device.Executable.
func (x *executable) Write(ctx context.Context, name string, t tensor.Tensor) error {
	done, err := x.begin(ctx, "Write")
	if err != nil {
		return err
	}
	defer done()
	have, ok := x.state[name]
	if !ok {
		return x.invalid("Write", "no state tensor %q", name)
	}
	if have.DType != t.DType || !slices.Equal(have.Shape, t.Shape) {
		return x.invalid("Write", "%s is %v, not %v", name, have, t)
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
	done, err := x.begin(ctx, "Read")
	if err != nil {
		return tensor.Tensor{}, err
	}
	defer done()
	t, ok := x.state[name]
	if !ok {
		return t, x.invalid("Read", "no state tensor %q", name)
	}
	return t.Clone(), nil
}

// Close implements device.Executable.
func (x *executable) Close() error {
	x.dev.mu.Lock()
	defer x.dev.mu.Unlock()
	x.closed, x.state, x.kept = true, nil, nil
	return nil
}
