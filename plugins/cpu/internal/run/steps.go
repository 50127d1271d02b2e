package run

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
)

// Run runs a function in m.
func (machine *Machine) Run(ctx context.Context, m *arena.Memory, fn *Function, s lifecycle.Step) (
	device.Outcome, error) {
	machine.Group = s.Group
	f := machine.start(ctx, m, s.Step)
	f.setSums(fn, s.Onto)
	if !f.hold(fn, s.Slot) {
		return device.Outcome{}, lifecycle.Errorf(device.Invalid, "slot %d is empty", s.Slot)
	}
	err := f.run(fn)
	f.release(fn, s.Slot, err == nil)
	if err != nil {
		return device.Outcome{}, err
	}
	out := device.Outcome{Blocked: f.blocked, Nodes: f.times(s.Func)}
	for _, o := range fn.graph.Outputs {
		switch {
		case !o.Keep:
			out.Outputs = append(out.Outputs, f.takeOut(fn.values[o.Value]))
		case s.Function == graph.Backward:
			out.Outputs = append(out.Outputs, f.yield(fn.values[o.Value]))
		}
	}
	return out, nil
}

// Commit runs a function and stores its updates in the state. The end of ctx does not end it, because
// updates may be made in place. The error names a state tensor that has become infinite or NaN
// somewhere.
func (machine *Machine) Commit(ctx context.Context, m *arena.Memory, fn *Function, s lifecycle.Step) error {
	for _, u := range s.Func.Updates {
		m.States[u.State].Detach()
	}
	machine.Group = s.Group
	f := machine.start(context.WithoutCancel(ctx), m, s.Step)
	if err := f.run(fn); err != nil {
		return err
	}
	f.update(fn)
	return f.checkUpdates(fn)
}

// start returns a frame for the rows and inputs of a step.
func (machine *Machine) start(ctx context.Context, m *arena.Memory, s device.Step) *Frame {
	m.FillBlank()
	f := &Frame{Kernels: machine.Kernels, Schedule: machine.Schedule, Rows: s.Rows, Starts: make([]int,
		len(s.Rows)+1),
		Last: s.Last, machine: machine, memory: m, ctx: ctx, inputs: s.Inputs, number: s.Number}
	for r, n := range s.Rows {
		f.Starts[r+1] = f.Starts[r] + n
	}
	f.areas = m.Areas()
	if s.Profile {
		f.profile = profile{}
	}
	return f
}

// run executes a function. When run returns, no action or exchange of the function is in progress.
func (f *Frame) run(fn *Function) error {
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	f.ctx = ctx
	f.machine.Pool.KeepAwake()
	defer f.machine.Pool.LetSleep()
	err := f.runGroups(fn)
	if err != nil {
		cancel()
	}
	if exchangeErr := f.awaitAll(); err == nil {
		err = exchangeErr
	}
	if err == nil {
		f.addStored()
	}
	return err
}

func (f *Frame) runGroups(fn *Function) error {
	for _, v := range fn.copied {
		f.bringIn(v)
	}
	for _, v := range fn.turned {
		f.turnHeld(v)
	}
	for _, g := range fn.groups {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		if err := f.runGroup(fn, g); err != nil {
			return err
		}
	}
	return nil
}

func (f *Frame) runGroup(fn *Function, g *group) error {
	if f.profile != nil {
		return f.profile.run(f, g, fn)
	}
	return g.run(f)
}
