package cpu

import (
	"context"
	"sync/atomic"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// Commit makes version v+1 of version v.
func (e *Executable) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	const call = "Commit"
	ctx, done, err := e.begin(ctx, call)
	if err != nil {
		return err
	}
	defer done()
	fn := e.functions[graph.Commit]
	switch {
	case e.version == v+1:
		return nil
	case fn == nil:
		return e.device.fail(call, device.Invalid, "the program has no function %s", graph.Commit)
	}
	if err := e.kept.Check(v, e.version); err != nil {
		return e.device.fail(call, device.Invalid, "%w", err)
	}
	inputs, err := h.Inputs(e.program)
	if err != nil {
		return e.device.fail(call, device.Invalid, "%w", err)
	}
	// From here on nothing fails but an update that is not finite: updates may be made in place.
	updates := fn.Graph().Updates
	for _, u := range updates {
		e.memory.States[u.State].Own()
	}
	f := e.memory.Start(context.WithoutCancel(ctx), &e.device.machine, device.Step{Inputs: inputs})
	if err := f.Run(fn); err != nil {
		return e.device.wrap(call, err)
	}
	f.Update(fn)
	e.kept.Has = false
	if err := e.checkUpdates(f, updates); err != nil {
		return e.device.fail(call, device.NonFinite, "%w", err)
	}
	e.version = v + 1
	return nil
}

// checkUpdates returns an error that names a state tensor that commit has made
// infinite or NaN somewhere.
func (e *Executable) checkUpdates(f *run.Frame, updates []graph.Update) error {
	var bad atomic.Bool
	for _, u := range updates {
		if s := e.memory.States[u.State]; s.Value.DType == tensor.F32 {
			x := s.Value.F32()
			f.EachSpan(len(x), func(_ *run.Worker, from, to int) {
				if !f.Kernels.AllFinite(x[from:to]) {
					bad.Store(true)
				}
			})
		}
	}
	for i := 0; i < len(updates) && bad.Load(); i++ {
		name := updates[i].State
		if err := device.Finite(name, e.memory.States[name].Value); err != nil {
			return err
		}
	}
	return nil
}
