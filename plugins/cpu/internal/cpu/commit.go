package cpu

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Commit makes version v+1 of version v.
func (e *Executable) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	const call = "Commit"
	ctx, end, err := e.begin(ctx, call)
	if err != nil {
		return err
	}
	defer end()
	fn := e.functions[graph.Commit]
	switch {
	case e.version == v+1:
		return nil
	case fn == nil:
		return e.device.fail(call, device.Invalid, "the program has no function %s", graph.Commit)
	case e.version != v:
		return e.device.fail(call, device.Invalid, "version %d is to be committed, the state is at %d", v,
			e.version)
	case !e.hasKept || e.keptFor != v:
		return e.device.fail(call, device.Invalid, "nothing is kept for version %d; run %s first", v, graph.Train)
	}
	inputs, err := fn.hyper(h)
	if err != nil {
		return e.device.fail(call, device.Invalid, "%w", err)
	}
	// From here on nothing fails but an update that is not finite: updates may be made in place.
	for _, u := range fn.Updates {
		e.states[u.State].own()
	}
	f := e.start(context.WithoutCancel(ctx), &e.device.machine, nil, inputs)
	if err := f.run(fn); err != nil {
		return e.device.wrap(call, err)
	}
	for _, u := range fn.Updates {
		s, v := e.states[u.State], fn.values[u.Value]
		if v.state != s {
			copy(s.value.Bytes, f.bytes(v))
		}
		s.stamp++
	}
	e.hasKept = false
	if err := e.checkUpdates(f, fn); err != nil {
		return e.device.fail(call, device.NonFinite, "%w", err)
	}
	e.version = v + 1
	return nil
}

// checkUpdates returns an error that names a state tensor that the function has
// made infinite or NaN somewhere.
func (e *Executable) checkUpdates(f *frame, fn *function) error {
	var bad atomic.Bool
	for _, u := range fn.Updates {
		if s := e.states[u.State]; s.value.DType == tensor.F32 {
			x := s.value.F32()
			f.eachSpan(len(x), func(_ *worker, from, to int) {
				if !device.AllFinite(x[from:to]) {
					bad.Store(true)
				}
			})
		}
	}
	for i := 0; i < len(fn.Updates) && bad.Load(); i++ {
		name := fn.Updates[i].State
		if err := device.Finite(name, e.states[name].value); err != nil {
			return err
		}
	}
	return nil
}

// hyper returns the inputs of commit; those that train keeps stay empty.
func (fn *function) hyper(h device.Hyper) ([]tensor.Tensor, error) {
	inputs := make([]tensor.Tensor, len(fn.Inputs))
	for i, id := range fn.Inputs {
		v := fn.values[id]
		if v.input < 0 {
			continue
		}
		x, ok := h[v.name]
		if !ok {
			return nil, fmt.Errorf("hyper-parameter %s is missing", v.name)
		}
		inputs[i] = tensor.Scalar(x)
	}
	return inputs, nil
}
