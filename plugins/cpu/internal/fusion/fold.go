package fusion

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// filtered are the operations whose results are sums of products with a weight,
// operand 1, per channel of the output, and a bias, operand 2.
var filtered = []graph.Op{graph.Conv, graph.ConvTranspose, graph.Dense}

// fold makes batch norms part of the products before them, where nothing else
// reads a product and the weight, the bias and the operands of the norm are
// state: it gives the product the norm's operands behind its own.
func (u *fuser) fold() {
	for k, n := range u.fn.Nodes {
		if n.Op != graph.BatchNorm || !u.alone(n.In[0], filtered...) {
			continue
		}
		i := u.made[n.In[0]]
		product := u.fn.Nodes[i]
		in := append(operandsOf(&product), n.In[1:]...)
		if !u.states(in[1:]) {
			continue
		}
		u.joined[n.Out[0]] = Joined{Given: product.Out[0], Norm: true, Eps: n.Float("eps")}
		product.In, product.Out = in, n.Out
		u.fn.Nodes[k], u.gone[i] = product, true
	}
}

// operandsOf returns the operands of a node, to which others may be added: a
// product without a bias has none in its place.
func operandsOf(n *graph.Node) []graph.Value {
	in := slices.Clone(n.In)
	if slices.Contains(filtered, n.Op) && len(in) == 2 {
		in = append(in, graph.None)
	}
	return in
}

// states reports whether all these values that are there are state.
func (u *fuser) states(values []graph.Value) bool {
	for _, v := range values {
		if v != graph.None && u.fn.Values[v].State == "" {
			return false
		}
	}
	return true
}
