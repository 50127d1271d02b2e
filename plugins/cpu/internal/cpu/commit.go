package cpu

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/problem"
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
		return e.device.fail(call, device.Invalid, "%w",
			problem.Advise("run "+graph.Train+" first", "nothing is kept for version %d", v))
	}
	inputs, err := hyper(fn, h)
	if err != nil {
		return e.device.fail(call, device.Invalid, "%w", err)
	}
	// From here on nothing fails but an update that is not finite: updates may be made in place.
	for _, u := range fn.Updates {
		e.States[u.State].Own()
	}
	f := e.Start(context.WithoutCancel(ctx), &e.device.Machine, nil, inputs)
	if err := f.Run(fn); err != nil {
		return e.device.wrap(call, err)
	}
	for _, u := range fn.Updates {
		s, v := e.States[u.State], fn.Known[u.Value]
		if v.State != s {
			copy(s.Value.Bytes, f.Bytes(v))
		}
		s.Stamp++
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
func (e *Executable) checkUpdates(f *run.Frame, fn *run.Function) error {
	var bad atomic.Bool
	for _, u := range fn.Updates {
		if s := e.States[u.State]; s.Value.DType == tensor.F32 {
			x := s.Value.F32()
			f.EachSpan(len(x), func(_ *run.Worker, from, to int) {
				if !device.AllFinite(x[from:to]) {
					bad.Store(true)
				}
			})
		}
	}
	for i := 0; i < len(fn.Updates) && bad.Load(); i++ {
		name := fn.Updates[i].State
		if err := device.Finite(name, e.States[name].Value); err != nil {
			return err
		}
	}
	return nil
}

// hyper returns the inputs of commit; those that train keeps stay empty.
func hyper(fn *run.Function, h device.Hyper) ([]tensor.Tensor, error) {
	inputs := make([]tensor.Tensor, len(fn.Inputs))
	for i, id := range fn.Inputs {
		v := fn.Known[id]
		if v.Input < 0 {
			continue
		}
		x, ok := h[v.Name]
		if !ok {
			return nil, fmt.Errorf("hyper-parameter %s is missing", v.Name)
		}
		inputs[i] = tensor.Scalar(x)
	}
	return inputs, nil
}
