package plan

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// mapsOfBytes returns the values of fn that operations of int8 write or read as bytes of
// two axes or more, and values taken from them. They are stored channels last, like maps of
// float32.
func mapsOfBytes(fn *graph.Function) map[graph.Value]bool {
	maps := map[graph.Value]bool{}
	for _, n := range fn.Nodes {
		if taken := n.Op == graph.Take && maps[n.In[0]]; !n.Op.Int8() && !taken {
			continue
		}
		for _, v := range slices.Concat(n.In, n.Out) {
			t := fn.Values[v].Type
			if t.Kind == graph.Rows && t.DType == tensor.U8 && len(t.Shape) > 1 {
				maps[v] = true
			}
		}
	}
	return maps
}
