package cpu

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
)

// Run implements lifecycle.Runner.
func (r *runner) Run(ctx context.Context, s lifecycle.Step) (device.Outcome, error) {
	fn := r.functions[s.Function]
	r.backend.machine.Group = s.Group
	f := r.memory.Start(ctx, &r.backend.machine, s.Step)
	f.Onto(fn, s.Onto)
	if !f.Hold(fn, s.Slot) {
		return device.Outcome{}, lifecycle.Errorf(device.Invalid, "slot %d is empty", s.Slot)
	}
	err := f.Run(fn)
	f.Release(fn, s.Slot, err == nil)
	if err != nil {
		return device.Outcome{}, err
	}
	out := device.Outcome{Blocked: f.Blocked(), Nodes: f.Times(s.Func)}
	for _, o := range fn.Graph().Outputs {
		switch {
		case !o.Keep:
			out.Outputs = append(out.Outputs, f.TakeOut(fn.Value(o.Value)))
		case s.Function == graph.Backward:
			out.Outputs = append(out.Outputs, f.Yield(fn.Value(o.Value)))
		}
	}
	return out, nil
}
