package cpu

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
)

// Run implements lifecycle.Runner.
func (r *runner) Run(ctx context.Context, s lifecycle.Step) (device.Outcome, error) {
	fn := r.functions[s.Function]
	r.backend.machine.Group = s.Group
	f := r.memory.Start(ctx, &r.backend.machine, s.Step)
	if err := f.Run(fn); err != nil {
		return device.Outcome{}, err
	}
	out := device.Outcome{Blocked: f.Blocked(), Nodes: f.Times(s.Func)}
	for _, o := range fn.Graph().Outputs {
		if !o.Keep {
			out.Outputs = append(out.Outputs, f.TakeOut(fn.Value(o.Value)))
		}
	}
	return out, nil
}
