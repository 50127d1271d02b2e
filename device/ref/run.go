package ref

import (
	"context"
	"fmt"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Run implements device.Executable.
func (x *executable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	call := "Run " + s.Function
	done, err := x.begin(ctx, call)
	if err != nil {
		return device.Outcome{}, err
	}
	defer done()
	start := time.Now()
	if s.Function == graph.Train {
		x.kept = nil
	}
	f, err := x.prepare(s)
	if err != nil {
		return device.Outcome{}, x.invalid(call, "%w", err)
	}
	ctx, stop := x.dev.guard(ctx)
	defer stop()
	if err := f.run(ctx); err != nil {
		return device.Outcome{}, x.dev.wrap(call, err)
	}
	o := device.Outcome{Outputs: x.outputs(f), Blocked: f.blocked, Nodes: f.took}
	o.Took = time.Since(start)
	return o, nil
}

// guard returns a context that also ends when the device is closed.
func (d *dev) guard(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(d.closed, func() { cancel(errClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

// prepare checks a step and returns its frame with state and inputs in place.
func (x *executable) prepare(s device.Step) (*frame, error) {
	fn := x.program.Function(s.Function)
	if fn == nil || s.Function == graph.Commit {
		return nil, fmt.Errorf("the program has no function %q that can be run", s.Function)
	}
	if err := x.checkRows(fn, s.Rows); err != nil {
		return nil, err
	}
	f := newFrame(fn, s.Rows)
	f.group, f.step, f.bf16 = x.dev.group, s.Number, x.dev.bf16
	f.class, f.norms = x.dev.class, x.norms[fn]
	if s.Profile {
		f.took = make([]time.Duration, len(fn.Nodes))
	}
	x.readState(f)
	if len(s.Inputs) != len(fn.Inputs) {
		return nil, fmt.Errorf("%d inputs, want %d", len(s.Inputs), len(fn.Inputs))
	}
	for i, v := range fn.Inputs {
		if err := f.set(v, s.Inputs[i]); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// checkRows compares the rows of a step with the capacity and the group.
func (x *executable) checkRows(fn *graph.Function, rows []int) error {
	sum := 0
	for r, n := range rows {
		if n < 0 {
			return fmt.Errorf("replica %d of the step has %d rows", r, n)
		}
		if sum += n; sum > x.capacity.Rows {
			return fmt.Errorf("more rows than the capacity of %d", x.capacity.Rows)
		}
	}
	if len(rows) > x.capacity.Replicas {
		return fmt.Errorf("%d replicas, more than the capacity of %d", len(rows), x.capacity.Replicas)
	}
	if g := x.dev.group; fn.Reduces() && len(g.Replicas) > 0 && len(rows) != len(g.Replicas[g.Rank]) {
		return fmt.Errorf("%d replicas, but the group gives this device %d", len(rows), len(g.Replicas[g.Rank]))
	}
	return nil
}

// readState puts the state of the current version into the values that read it.
func (x *executable) readState(f *frame) {
	for v, variable := range f.fn.Values {
		if variable.State != "" {
			f.values[v] = fromTensor(variable.Type, 1, x.state[variable.State])
		}
	}
}

// outputs returns the outputs of a finished frame and keeps those that stay.
func (x *executable) outputs(f *frame) []tensor.Tensor {
	var out []tensor.Tensor
	kept := map[string]*array{}
	for _, o := range f.fn.Outputs {
		if o.Keep {
			kept[o.Name] = f.values[o.Value]
		} else {
			out = append(out, f.result(o.Value))
		}
	}
	if f.fn.Name == graph.Train {
		x.kept, x.keptAt = kept, x.version
	}
	return out
}
