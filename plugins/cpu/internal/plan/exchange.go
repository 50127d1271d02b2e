package plan

import (
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// exchanges returns two sets. follows has the results of all-reduces that follow another one. closing has
// the first results of exchanges that only the end of the function waits for.
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

// AllReduce builds one exchange for the all-reduce of the node and the all-reduces that
// follow it. The action of the first node does the work of all.
func AllReduce(c *Compiler) run.Action {
	if c.follows[c.result(c.index)] {
		return nil
	}
	lane := collective.Moments
	if c.closing[c.result(c.index)] {
		lane = collective.Gradients
	}
	var nodes []int
	var values []run.Reduced
	for i := c.index; i == c.index || i < len(c.fn.Nodes) && c.follows[c.result(i)]; i++ {
		n := &c.fn.Nodes[i]
		r := run.Reduced{From: c.linker.Value(n.In[0]), To: c.linker.Value(n.Out[0]), Op: collective.Sum}
		if n.Text("of") == "moments" {
			r.Op = collective.MergeMoments
		}
		r.Summed = c.summed[r.From]
		nodes, values = append(nodes, i), append(values, r)
	}
	return c.linker.Exchange(lane, nodes, values)
}

// result returns the first result of node i, or graph.None.
func (c *Compiler) result(i int) graph.Value {
	if out := c.fn.Nodes[i].Out; len(out) > 0 {
		return out[0]
	}
	return graph.None
}
