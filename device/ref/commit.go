package ref

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Commit implements device.Executable.
func (x *executable) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	const call = "Commit"
	done, err := x.begin(ctx, call)
	if err != nil {
		return err
	}
	defer done()
	switch {
	case x.version == v+1:
		return nil
	case x.version != v:
		return x.invalid(call, "the state has version %d, asked to commit version %d", x.version, v)
	case x.kept == nil || x.keptAt != v:
		return x.invalid(call, "no run of %s kept anything for version %d", graph.Train, v)
	}
	f, err := x.prepareCommit(h)
	if err != nil {
		return x.invalid(call, "%w", err)
	}
	if err := f.run(ctx); err != nil {
		return x.dev.wrap(call, err)
	}
	return x.apply(f)
}

// prepareCommit returns the frame of the commit function: inputs are what
// train kept, and the hyper-parameters for all others.
func (x *executable) prepareCommit(h device.Hyper) (*frame, error) {
	fn := x.program.Function(graph.Commit)
	if fn == nil {
		return nil, fmt.Errorf("the program has no function %q", graph.Commit)
	}
	f := newFrame(fn, nil)
	f.bf16, f.class, f.norms = x.dev.bf16, x.dev.class, x.norms[fn]
	x.readState(f)
	for _, v := range fn.Inputs {
		name := fn.Values[v].Name
		kept, ok := x.kept[name]
		value, given := h[name]
		switch {
		case ok:
			f.values[v] = kept
		case !given || fn.Values[v].Type.DType != tensor.F32:
			return nil, fmt.Errorf("input %s %v was neither kept nor given", name, fn.Values[v].Type)
		default:
			f.values[v] = fromTensor(fn.Values[v].Type, 1, tensor.Scalar(value))
		}
	}
	return f, nil
}

// apply makes the updates of a finished frame the next version of the state, if
// all of them are finite.
func (x *executable) apply(f *frame) error {
	x.kept = nil
	for _, u := range f.fn.Updates {
		if err := device.Finite(u.State, f.result(u.Value)); err != nil {
			return device.Errorf(x.dev.name, "Commit", device.NonFinite, "%w", err)
		}
	}
	for _, u := range f.fn.Updates {
		x.state[u.State] = f.result(u.Value)
	}
	x.version++
	return nil
}
