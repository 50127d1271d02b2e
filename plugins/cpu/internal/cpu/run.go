package cpu

import (
	"context"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Run runs one function.
func (e *Executable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	call := "Run " + s.Function
	ctx, done, err := e.begin(ctx, call)
	if err != nil {
		return device.Outcome{}, err
	}
	defer done()
	began := time.Now()
	fn, err := e.check(call, s)
	if err != nil {
		return device.Outcome{}, err
	}
	f := e.memory.Start(ctx, &e.device.machine, s)
	if s.Function == graph.Train {
		e.kept.Has = false
	}
	if err := f.Run(fn); err != nil {
		return device.Outcome{}, e.device.wrap(call, err)
	}
	if s.Function == graph.Train {
		e.kept = device.Kept{Has: true, For: e.version}
	}
	out := device.Outcome{Blocked: f.Blocked(), Nodes: f.Profile().Nodes(e.program.Function(s.Function))}
	for _, o := range fn.Graph().Outputs {
		if !o.Keep {
			out.Outputs = append(out.Outputs, f.TakeOut(fn.Value(o.Value)))
		}
	}
	out.Took = time.Since(began)
	return out, nil
}

// check validates a step against the function and the capacity.
func (e *Executable) check(call string, s device.Step) (*run.Function, error) {
	if err := s.Check(e.program.Function(s.Function), e.capacity, e.device.machine.Group.Own()); err != nil {
		return nil, e.device.fail(call, device.Invalid, "%w", err)
	}
	return e.functions[s.Function], nil
}
