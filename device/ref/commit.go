package ref

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// Commit implements device.Executable.
func (x *executable) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	const call = "Commit"
	ctx, done, err := x.begin(ctx, call)
	if err != nil {
		return err
	}
	defer done()
	if x.version == v+1 {
		return nil
	}
	kept := device.Kept{Has: x.kept != nil, For: x.keptAt}
	if err := kept.Check(v, x.version); err != nil {
		return x.invalid(call, "%w", err)
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
	inputs, err := h.Inputs(x.program)
	if err != nil {
		return nil, err
	}
	f := newFrame(fn, nil)
	f.bf16, f.class, f.norms = x.dev.bf16, x.dev.class, x.norms[fn]
	x.readState(f)
	for i, v := range fn.Inputs {
		if kept := x.kept[fn.Values[v].Name]; kept != nil {
			f.values[v] = kept
		} else {
			f.values[v] = fromTensor(fn.Values[v].Type, 1, inputs[i])
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
