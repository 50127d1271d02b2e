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
	exe   *Executable
	fn    *function
	node  *graph.Node
	index int // of node
	temps []temporary
	// follows says of an all-reduce's result that its node comes right behind
	// another all-reduce in the function as it was given.
	follows map[graph.Value]bool
	closing map[graph.Value]bool // first results of exchanges that no node reads
	masks   map[graph.Value]mask
	summed  map[*value]bool // gradients that come summed over the replicas held
	after   []func()        // called when the layout is known
	refuse  []device.Refusal
}

// temporary is memory that a node needs while it runs.
type temporary struct {
	node int
	*slot
}

// builders says how each operation is compiled. A builder returns nil after
// it has refused the node.
var builders map[graph.Op]func(c *compiler) action

func init() { // the builders refer to the table
	builders = map[graph.Op]func(c *compiler) action{}
	for _, family := range []map[graph.Op]func(c *compiler) action{
		productOps, normOps, activationOps, poolOps, arithmeticOps, structureOps, lossOps, updateOps, reductionOps,
	} {
		for op, b := range family {
			builders[op] = b
		}
	}
}

// Ops returns the operations that the device runs, by number.
func Ops() []graph.Op {
	var ops []graph.Op
	for op := range builders {
		ops = append(ops, op)
	}
	slices.Sort(ops)
	return ops
}

// compile compiles fn and lists the nodes that cannot be run.
func (e *Executable) compile(fn *graph.Function) (*function, []device.Refusal) {
	c := &compiler{exe: e, summed: map[*value]bool{}}
	c.follows, c.closing = exchanges(fn)
	fn, joined := fuse(fn)
	fn, c.masks = fuseMasks(fn)
	c.fn = &function{Function: fn, kept: map[string]*value{}, joined: joined}
	for _, v := range fn.Values {
		c.fn.values = append(c.fn.values, newValue(v))
		if v.State != "" {
			c.fn.values[len(c.fn.values)-1].state = e.states[v.State]
		}
	}
	actions := make([]action, len(fn.Nodes))
	for i := range fn.Nodes {
		c.node, c.index = &fn.Nodes[i], i
		actions[i] = c.build()
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
func (c *compiler) build() action {
	b := builders[c.node.Op]
	if b == nil {
		return c.no("this device does not have the operation")
	}
	return c.rounded(b(c))
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
