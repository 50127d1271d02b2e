package run

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/tensor"
)

// update stores the updates that a function has computed in the state. Updates that were written in place
// need no copy.
func (f *Frame) update(fn *Function) {
	for _, u := range fn.graph.Updates {
		s, v := f.memory.States[u.State], fn.values[u.Value]
		if v.state != s {
			copy(s.Value.Bytes, f.Bytes(v))
		}
		s.SetChanged()
	}
}

// checkUpdates returns an error that names a state tensor that commit has made
// infinite or NaN somewhere.
func (f *Frame) checkUpdates(fn *Function) error {
	updates := fn.graph.Updates
	for _, u := range updates {
		if s := f.memory.States[u.State]; s.Value.DType == tensor.F32 && !fn.values[u.Value].judged {
			x := s.Value.F32()
			f.EachSpan(len(x), func(_ *Worker, from, to int) {
				if !f.Kernels.AllFinite(x[from:to]) {
					f.NotFinite()
				}
			})
		}
	}
	for i := 0; i < len(updates) && f.infinite.Load(); i++ {
		name := updates[i].State
		if err := device.Finite(name, f.memory.States[name].Value); err != nil {
			return lifecycle.Errorf(device.NonFinite, "%w", err)
		}
	}
	return nil
}
