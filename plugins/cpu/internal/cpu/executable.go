package cpu

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Executable is a loaded program.
type Executable struct {
	run.Memory
	device    *Device
	program   *graph.Program
	functions map[string]*run.Function

	capacity device.Capacity
	version  device.Version
	kept     device.Kept
	closed   bool
}

// load compiles p.
func (d *Device) load(p *graph.Program, c device.Capacity) (*Executable, error) {
	e := &Executable{device: d, program: p, functions: map[string]*run.Function{},
		Memory: run.Memory{States: map[string]*run.State{}, Packs: map[string]run.Packed{}}}
	if err := device.CheckProgram(d.info.Name, p); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, d.fail("Load", device.Invalid, "%w", err)
	}
	if err := e.declare(); err != nil {
		return nil, err
	}
	e.Reserve = run.NewReserve(e.StateBytes())
	var refused device.Refused
	for _, fn := range p.InOrder() {
		compiled, refusals := plan.Compile(&e.device.Machine, &e.Memory, fn, e.keptBy(fn.Name), table)
		e.functions[fn.Name] = compiled
		refused.Nodes = append(refused.Nodes, refusals...)
	}
	var err error
	if len(refused.Nodes) > 0 {
		err = d.fail("Load", device.Unsupported, "%w", &refused)
	} else {
		err = e.grow("Load", c)
	}
	if err != nil {
		e.free()
		return nil, err
	}
	return e, nil
}

// begin starts a call.
func (e *Executable) begin(ctx context.Context, call string) (context.Context, func(), error) {
	ctx, done, err := e.device.calls.Begin(ctx, call)
	if err == nil && e.closed {
		done()
		return nil, nil, e.device.fail(call, device.Invalid, "the executable is closed")
	}
	return ctx, done, err
}

// keptBy returns the values that train keeps for a function, by name: for
// commit, which comes behind it.
func (e *Executable) keptBy(function string) map[string]*run.Value {
	if train := e.functions[graph.Train]; train != nil && function == graph.Commit {
		return train.Kept
	}
	return nil
}
