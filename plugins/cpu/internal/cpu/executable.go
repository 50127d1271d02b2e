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
	device    *Device
	program   *graph.Program
	memory    *run.Memory
	functions map[string]*run.Function

	capacity  device.Capacity
	allocated bool // for that capacity
	version   device.Version
	kept      device.Kept
	closed    bool
}

// load compiles p.
func (d *Device) load(p *graph.Program, c device.Capacity) (*Executable, error) {
	e := &Executable{device: d, program: p, functions: map[string]*run.Function{}}
	if err := device.CheckProgram(d.info.Name, p); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, d.fail("Load", device.Invalid, "%w", err)
	}
	e.memory = run.NewMemory(p.State)
	if err := d.checkMemory("Load", float64(e.memory.StateBytes())); err != nil {
		return nil, err
	}
	var refused device.Refused
	for _, fn := range p.InOrder() {
		compiled, refusals := plan.Compile(&d.machine, e.memory, fn, e.before(fn.Name), table)
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

// before returns the function that keeps values for another: train for commit, which
// comes behind it; nil for any other.
func (e *Executable) before(function string) *run.Function {
	if function == graph.Commit {
		return e.functions[graph.Train]
	}
	return nil
}
