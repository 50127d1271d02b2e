package ref

import "github.com/bnctl/bnctl/graph"

// lastUses returns, for each value, the number of nodes that must have run before the value is
// not needed any more. Outputs and updates are needed until the end.
func lastUses(fn *graph.Function) []int {
	last := make([]int, len(fn.Values))
	for i, n := range fn.Nodes {
		for _, v := range n.In {
			if v != graph.None {
				last[v] = i + 1
			}
		}
	}
	for _, o := range fn.Outputs {
		last[o.Value] = len(fn.Nodes) + 1
	}
	for _, u := range fn.Updates {
		last[u.Value] = len(fn.Nodes) + 1
	}
	return last
}

// drop drops those operands and results of nodes that are not needed after node end-1.
func (f *frame) drop(nodes []graph.Node, last []int, end int) {
	for _, n := range nodes {
		for _, vs := range [][]graph.Value{n.In, n.Out} {
			for _, v := range vs {
				if v != graph.None && last[v] <= end {
					f.values[v] = nil
				}
			}
		}
	}
}
