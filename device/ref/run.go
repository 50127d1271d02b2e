package ref

import (
	"context"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Run implements device.Executable.
func (x *executable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	call := "Run " + s.Function
	ctx, done, err := x.begin(ctx, call)
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
	if err := f.run(ctx); err != nil {
		return device.Outcome{}, x.dev.wrap(call, err)
	}
	o := device.Outcome{Outputs: x.outputs(f), Blocked: f.blocked, Nodes: f.took}
	o.Took = time.Since(start)
	return o, nil
}

// prepare checks a step and returns its frame with state and inputs in place.
func (x *executable) prepare(s device.Step) (*frame, error) {
	fn := x.program.Function(s.Function)
	if err := s.Check(fn, x.capacity, x.dev.group.Own()); err != nil {
		return nil, err
	}
	f := newFrame(fn, s.Rows)
	if x.dev.group != nil {
		f.group = *x.dev.group
	}
	f.step, f.bf16 = s.Number, x.dev.bf16
	f.class, f.norms = x.dev.class, x.norms[fn]
	if s.Profile {
		f.took = make([]time.Duration, len(fn.Nodes))
	}
	x.readState(f)
	for i, v := range fn.Inputs {
		if err := f.set(v, s.Inputs[i]); err != nil {
			return nil, err
		}
	}
	return f, nil
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
