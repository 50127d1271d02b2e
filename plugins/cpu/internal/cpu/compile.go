package cpu

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// operations is what compile must know of operations.
type operations struct {
	builders map[graph.Op]builder
	// oneBlock reports whether the sums over the rows of such a value are made row by row.
	oneBlock func(v graph.Variable) bool
}

// compile compiles fn, which finds what is given, and lists the nodes that
// cannot be run.
func compile(on *machine, m *memory, fn *graph.Function, given map[string]*value, ops operations) (*function,
	[]device.Refusal) {
	c := &compiler{machine: on, memory: m, given: given, summed: map[*value]bool{}}
	c.follows, c.closing = exchanges(fn)
	fn, joined := fuse(fn)
	fn, c.masks = fuseMasks(fn, ops.oneBlock)
	c.fn = &function{Function: fn, kept: map[string]*value{}, joined: joined}
	for _, v := range fn.Values {
		c.fn.values = append(c.fn.values, newValue(v))
		if v.State != "" {
			c.fn.values[len(c.fn.values)-1].state = m.states[v.State]
		}
	}
	actions := make([]action, len(fn.Nodes))
	for i := range fn.Nodes {
		c.node, c.index = &fn.Nodes[i], i
		actions[i] = build(c, ops.builders[c.node.Op])
	}
	if len(c.refuse) == 0 {
		c.fn.groups = schedule(c.fn, actions, c.follows, c.closing)
		c.halve()
		for _, g := range c.fn.groups {
			if g.rows {
				c.widen(g)
				newLinker(c.fn, g).link()
			}
		}
		c.lay()
	}
	return c.fn, c.refuse
}

// exchanges returns the results of the all-reduces that follow another, and the
// first results of the exchanges that only the end of the function waits for.
func exchanges(fn *graph.Function) (follows, closing map[graph.Value]bool) {
	follows, closing = map[graph.Value]bool{}, map[graph.Value]bool{}
	for _, e := range fn.Exchanges() {
		closing[fn.Nodes[e.From].Out[0]] = !e.Read
		for _, n := range fn.Nodes[e.From+1 : e.To] {
			follows[n.Out[0]] = true
		}
	}
	return follows, closing
}

// build compiles the current node.
func build(c *compiler, b builder) action {
	if b == nil {
		return c.no("this device does not have the operation")
	}
	return c.rounded(b(c))
}
