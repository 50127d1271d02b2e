package run

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// updateInPlace lets optimizers overwrite the state with their results, if no later node
// reads the old state.
func (l *placer) updateInPlace() {
	for _, u := range l.fn.graph.Updates {
		i := slices.IndexFunc(l.fn.graph.Nodes, func(n graph.Node) bool { return slices.Contains(n.Out, u.Value) })
		if i < 0 || !elementwiseUpdate(l.fn.graph.Nodes[i].Op) {
			continue
		}
		old := slices.IndexFunc(l.fn.graph.Values, func(v graph.Variable) bool { return v.State == u.State })
		later := slices.ContainsFunc(l.fn.graph.Nodes[i+1:], func(n graph.Node) bool {
			return old >= 0 && slices.Contains(n.In, graph.Value(old))
		})
		others := slices.ContainsFunc(l.fn.graph.Updates, func(o graph.Update) bool {
			return o.State != u.State && (o.Value == u.Value || int(o.Value) == old)
		})
		if !later && !others {
			l.fn.values[u.Value].state = l.linker.memory.States[u.State]
		}
	}
}

// elementwiseUpdate reports whether op computes every element of its results only from the same element of
// its operands.
func elementwiseUpdate(op graph.Op) bool {
	return op == graph.SGD || op == graph.AdamW || op == graph.LARS || op == graph.EMA
}
