package cpu

import (
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// function is a compiled function.
type function struct {
	*graph.Function
	values []*value
	groups []*group
	slots  []*slot           // of the arena
	copied []*value          // inputs that are copied
	kept   map[string]*value // outputs that stay here, by name
	joined map[graph.Value]joined
}

// given returns the result that the node which makes v had before others were
// made part of it.
func (fn *function) given(v graph.Value) graph.Value {
	if j, ok := fn.joined[v]; ok {
		return j.given
	}
	return v
}

// compiler turns one function into actions.
type compiler struct {
	*machine
	*memory
	fn    *function
	node  *graph.Node
	index int // of node
	temps []temporary
	// follows says of an all-reduce's result that its node comes right behind
	// another all-reduce in the function as it was given.
	follows map[graph.Value]bool
	closing map[graph.Value]bool // first results of exchanges that no node reads
	masks   map[graph.Value]mask
	given   map[string]*value // what another function has kept for this one, by name
	summed  map[*value]bool   // gradients that come summed over the replicas held
	after   []func()          // called when the layout is known
	refuse  []device.Refusal
}

// temporary is memory that a node needs while it runs.
type temporary struct {
	node int
	*slot
}

// no refuses the current node.
func (c *compiler) no(why string) action {
	given := *c.node
	if len(given.Out) > 0 {
		given.Out = []graph.Value{c.fn.given(given.Out[0])}
	}
	c.refuse = append(c.refuse, device.Refusal{
		Function: c.fn.Name, Node: c.fn.NodeName(&given), Op: given.Op, Why: why})
	return action{}
}

// in returns operand i of the current node, nil if it is absent.
func (c *compiler) in(i int) *value {
	if i >= len(c.node.In) || c.node.In[i] == graph.None {
		return nil
	}
	return c.fn.values[c.node.In[i]]
}

// out returns result i of the current node.
func (c *compiler) out(i int) *value { return c.fn.values[c.node.Out[i]] }

// temp reserves memory for the current node: bytes in all, per replica, per row.
func (c *compiler) temp(fixed, perReplica, perRow int) *slot {
	s := &slot{fixed: fixed, perReplica: perReplica, perRow: perRow}
	c.temps = append(c.temps, temporary{c.index, s})
	return s
}

// sumOnly reports whether the only reader of v is an all-reduce by sum.
func (c *compiler) sumOnly(v graph.Value) bool {
	readers := 0
	for i := range c.fn.Nodes {
		n := &c.fn.Nodes[i]
		if !slices.Contains(n.In, v) {
			continue
		}
		if n.Op != graph.AllReduce || n.Text("of") != "sum" {
			return false
		}
		readers++
	}
	return readers == 1 && !c.fn.isResult(v)
}

// isResult reports whether v is an output or an update.
func (fn *function) isResult(v graph.Value) bool {
	return slices.ContainsFunc(fn.Outputs, func(o graph.Output) bool { return o.Value == v }) ||
		slices.ContainsFunc(fn.Updates, func(u graph.Update) bool { return u.Value == v })
}

// keeps reports whether a value is an output that stays here.
func (fn *function) keeps(v graph.Value) bool {
	return slices.ContainsFunc(fn.Outputs, func(o graph.Output) bool { return o.Keep && o.Value == v })
}

// builder compiles the current node. It returns nil after it has refused it.
type builder = func(c *compiler) action
