package plan

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
	"github.com/bnctl/bnctl/plugins/cpu/internal/fusion"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Operations has the properties of operations that compile needs.
type Operations struct {
	Builders map[graph.Op]Builder
	// OneBlock reports whether the sums over the rows of a value are computed row by row.
	OneBlock func(v graph.Variable) bool
}

// Compile compiles fn and lists the nodes that the device cannot run. If there are any, the returned
// function must not be run. earlier, unless it is nil, has retained values that are inputs of fn.
func Compile(machine *run.Machine, m *arena.Memory, fn *graph.Function, earlier *run.Function,
	ops Operations) (*run.Function, []device.Refusal) {
	c := &Compiler{machine: machine, memory: m, summed: map[*run.Value]bool{}}
	c.follows, c.closing = exchanges(fn)
	fn, c.fused = fusion.Fuse(fn)
	fn, c.masks = fusion.Masks(fn, ops.OneBlock, c.fused, !machine.Reduced)
	fn, inOrder := order(fn, c.fused)
	given := map[graph.Value]graph.Value{}
	for v, f := range c.fused {
		given[v] = f.Given
	}
	c.fn, c.linker = fn, run.NewLinker(machine, m, fn, given, earlier)
	for v := range inOrder {
		c.linker.Value(v).SetInOrder()
	}
	for v := range mapsOfBytes(fn) {
		c.linker.Value(v).SetChannelsLast()
	}
	actions := make([]run.Action, len(fn.Nodes))
	for c.index = range fn.Nodes {
		actions[c.index] = c.build(ops.Builders[c.Node().Op])
	}
	if len(c.refusals) > 0 {
		return c.linker.Function(), c.refusals
	}
	return c.linker.Link(actions), nil
}

// build compiles the current node with builder b.
func (c *Compiler) build(b Builder) run.Action {
	if b == nil {
		return c.Refuse("this device does not have the operation")
	}
	return c.rounded(b(c))
}
