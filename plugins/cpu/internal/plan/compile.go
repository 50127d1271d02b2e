package plan

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/fusion"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Operations is what compile must know of operations.
type Operations struct {
	Builders map[graph.Op]run.Builder
	// OneBlock reports whether the sums over the rows of such a value are made row by row.
	OneBlock func(v graph.Variable) bool
}

// Compile compiles fn, which finds what is given, and lists the nodes that
// cannot be run.
func Compile(on *run.Machine, m *run.Memory, fn *graph.Function, given map[string]*run.Value,
	ops Operations) (*run.Function, []device.Refusal) {
	c := &run.Compiler{Machine: on, Memory: m, Given: given, Summed: map[*run.Value]bool{}}
	c.Follows, c.Closing = exchanges(fn)
	fn, joined := fusion.Fuse(fn)
	fn, c.Masks = fusion.Masks(fn, ops.OneBlock)
	c.Fn = &run.Function{Function: fn, Kept: map[string]*run.Value{}, Joined: joined}
	for _, v := range fn.Values {
		c.Fn.Known = append(c.Fn.Known, run.NewValue(v))
		if v.State != "" {
			c.Fn.Known[len(c.Fn.Known)-1].State = m.States[v.State]
		}
	}
	actions := make([]run.Action, len(fn.Nodes))
	for i := range fn.Nodes {
		c.Node, c.Index = &fn.Nodes[i], i
		actions[i] = build(c, ops.Builders[c.Node.Op])
	}
	if len(c.Refusals) == 0 {
		c.Fn.Groups = gather(c.Fn, actions, c.Follows, c.Closing)
		halve(c)
		for _, g := range c.Fn.Groups {
			if g.ByRows() {
				widen(c, g)
				newLinker(c.Fn, g, c.Schedule).link()
			}
		}
		lay(c)
	}
	return c.Fn, c.Refusals
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
func build(c *run.Compiler, b run.Builder) run.Action {
	if b == nil {
		return c.Refuse("this device does not have the operation")
	}
	return c.Rounded(b(c))
}
