package cpu

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// Commit implements lifecycle.Runner. Nothing fails but an update that is not finite: updates may
// be made in place, and the end of ctx does not end them.
func (r *runner) Commit(ctx context.Context, s lifecycle.Step) error {
	fn := r.functions[graph.Commit]
	updates := s.Func.Updates
	for _, u := range updates {
		r.memory.States[u.State].Detach()
	}
	r.backend.machine.Group = s.Group
	f := r.memory.Start(context.WithoutCancel(ctx), &r.backend.machine, s.Step)
	if err := f.Run(fn); err != nil {
		return err
	}
	f.Update(fn)
	return r.checkUpdates(f, fn)
}

// checkUpdates returns an error that names a state tensor that commit has made
// infinite or NaN somewhere.
func (r *runner) checkUpdates(f *run.Frame, fn *run.Function) error {
	updates := fn.Graph().Updates
	for _, u := range updates {
		if s := r.memory.States[u.State]; s.Value.DType == tensor.F32 && !fn.Value(u.Value).IsChecked() {
			x := s.Value.F32()
			f.EachSpan(len(x), func(_ *run.Worker, from, to int) {
				if !f.Kernels.AllFinite(x[from:to]) {
					f.NotFinite()
				}
			})
		}
	}
	for i := 0; i < len(updates) && !f.Finite(); i++ {
		name := updates[i].State
		if err := device.Finite(name, r.memory.States[name].Value); err != nil {
			return lifecycle.Errorf(device.NonFinite, "%w", err)
		}
	}
	return nil
}
