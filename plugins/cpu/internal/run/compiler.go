package run

import (
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/fusion"
)

// Function is a compiled function.
type Function struct {
	*graph.Function
	Known  []*Value
	Groups []*Group
	Slots  []*Slot           // of the arena
	Copied []*Value          // inputs that are copied
	Kept   map[string]*Value // outputs that stay here, by name
	Joined map[graph.Value]fusion.Joined
}

// Given returns the result that the node which makes v had before others were
// made part of it.
func (fn *Function) Given(v graph.Value) graph.Value {
	if j, ok := fn.Joined[v]; ok {
		return j.Given
	}
	return v
}

// Compiler turns one function into actions.
type Compiler struct {
	*Machine
	*Memory
	Fn    *Function
	Node  *graph.Node
	Index int // of node
	Temps []temporary
	// Follows says of an all-reduce's result that its node comes right behind
	// another all-reduce in the function as it was given.
	Follows  map[graph.Value]bool
	Closing  map[graph.Value]bool // first results of exchanges that no node reads
	Masks    map[graph.Value]fusion.Mask
	Given    map[string]*Value // what another function has kept for this one, by name
	Summed   map[*Value]bool   // gradients that come summed over the replicas held
	After    []func()          // called when the layout is known
	Refusals []device.Refusal
}

// temporary is memory that a node needs while it runs.
type temporary struct {
	Node int
	*Slot
}

// Refuse refuses the current node.
func (c *Compiler) Refuse(why string) Action {
	given := *c.Node
	if len(given.Out) > 0 {
		given.Out = []graph.Value{c.Fn.Given(given.Out[0])}
	}
	c.Refusals = append(c.Refusals, device.Refusal{
		Function: c.Fn.Name, Node: c.Fn.NodeName(&given), Op: given.Op, Why: why})
	return nil
}

// In returns operand i of the current node, nil if it is absent.
func (c *Compiler) In(i int) *Value {
	if i >= len(c.Node.In) || c.Node.In[i] == graph.None {
		return nil
	}
	return c.Fn.Known[c.Node.In[i]]
}

// Out returns result i of the current node.
func (c *Compiler) Out(i int) *Value { return c.Fn.Known[c.Node.Out[i]] }

// Temp reserves memory for the current node: bytes in all, per replica, per row.
func (c *Compiler) Temp(fixed, perReplica, perRow int) *Slot {
	s := &Slot{Fixed: fixed, PerReplica: perReplica, PerRow: perRow}
	c.Temps = append(c.Temps, temporary{c.Index, s})
	return s
}

// SumOnly reports whether the only reader of v is an all-reduce by sum.
func (c *Compiler) SumOnly(v graph.Value) bool {
	readers := 0
	for i := range c.Fn.Nodes {
		n := &c.Fn.Nodes[i]
		if !slices.Contains(n.In, v) {
			continue
		}
		if n.Op != graph.AllReduce || n.Text("of") != "sum" {
			return false
		}
		readers++
	}
	return readers == 1 && !c.Fn.IsResult(v)
}

// IsResult reports whether v is an output or an update.
func (fn *Function) IsResult(v graph.Value) bool {
	return slices.ContainsFunc(fn.Outputs, func(o graph.Output) bool { return o.Value == v }) ||
		slices.ContainsFunc(fn.Updates, func(u graph.Update) bool { return u.Value == v })
}

// Keeps reports whether a value is an output that stays here.
func (fn *Function) Keeps(v graph.Value) bool {
	return slices.ContainsFunc(fn.Outputs, func(o graph.Output) bool { return o.Keep && o.Value == v })
}

// Builder compiles the current node. It returns nil after it has refused it.
type Builder = func(c *Compiler) Action
