package gpu

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// products are the operations that a batch norm behind them may become part of.
var products = []graph.Op{graph.Conv, graph.ConvTranspose, graph.Dense}

// fold returns fn with batch norms made part of the products before them, where
// nothing else reads a product and the weight, the bias and the operands of the
// norm are state, as every device of the class does it: it decides bits. The
// norm's operands stand behind the product's own; eps is given by the result.
func fold(fn *graph.Function) (*graph.Function, map[graph.Value]float64) {
	fn = fn.Clone()
	folded := map[graph.Value]float64{}
	made, uses := map[graph.Value]int{}, map[graph.Value]int{}
	for i, n := range fn.Nodes {
		for _, v := range n.Out {
			made[v] = i
		}
		for _, v := range n.In {
			uses[v]++
		}
	}
	for _, o := range fn.Outputs {
		uses[o.Value] += 2
	}
	for _, o := range fn.Updates {
		uses[o.Value] += 2
	}
	gone := map[int]bool{}
	for k, n := range fn.Nodes {
		if n.Op != graph.BatchNorm || uses[n.In[0]] != 1 {
			continue
		}
		i, ok := made[n.In[0]]
		if !ok || !slices.Contains(products, fn.Nodes[i].Op) {
			continue
		}
		product := fn.Nodes[i]
		product.In = slices.Clone(product.In)
		if len(product.In) == 2 {
			product.In = append(product.In, graph.None)
		}
		product.In = append(product.In, n.In[1:]...)
		if !states(fn, product.In[1:]) {
			continue
		}
		product.Out = n.Out
		fn.Nodes[k], gone[i] = product, true
		folded[n.Out[0]] = n.Float("eps")
	}
	var nodes []graph.Node
	for i, n := range fn.Nodes {
		if !gone[i] {
			nodes = append(nodes, n)
		}
	}
	fn.Nodes = nodes
	return fn, folded
}

// states reports whether all these values that are there are state.
func states(fn *graph.Function, values []graph.Value) bool {
	for _, v := range values {
		if v != graph.None && fn.Values[v].State == "" {
			return false
		}
	}
	return true
}
