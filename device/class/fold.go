package class

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// Folded are the operations that a batch norm may be folded into: products with a
// weight (operand 1) plus a bias (operand 2) per output channel.
var Folded = []graph.Op{graph.Conv, graph.ConvTranspose, graph.Dense}

// Norm is a batch norm that was folded into a product. Its gamma, beta, mean and
// variance are operands 3 to 6 of the product.
type Norm struct {
	Product graph.Value // the former result of the product
	Eps     float64
}

// Fold returns fn with batch norms folded into the products before them, and a map with the
// folded norms by the products' new results. A BatchNorm is folded if nothing else reads the
// product's result, and if the product's weight and bias and the norm's operands are state.
// Folding changes bits, so every device of a class must fold exactly these norms.
func Fold(fn *graph.Function) (*graph.Function, map[graph.Value]Norm) {
	folded, norms := fn.Clone(), map[graph.Value]Norm{}
	made, uses := map[graph.Value]int{}, Readers(fn)
	for i, n := range fn.Nodes {
		for _, v := range n.Out {
			made[v] = i
		}
	}
	gone := map[int]bool{}
	for k, n := range fn.Nodes {
		if n.Op != graph.BatchNorm {
			continue
		}
		i, ok := made[n.In[0]]
		if !ok || uses[n.In[0]] != 1 || !takesNorm(&fn.Nodes[i]) {
			continue
		}
		product := folded.Nodes[i]
		in := append(withBias(&product), n.In[1:]...)
		if !allState(fn, in[1:]) {
			continue
		}
		norms[n.Out[0]] = Norm{Product: product.Out[0], Eps: n.Float("eps")}
		product.In, product.Out = in, n.Out
		folded.Nodes[k], gone[i] = product, true
	}
	var nodes []graph.Node
	for i, n := range folded.Nodes {
		if !gone[i] {
			nodes = append(nodes, n)
		}
	}
	folded.Nodes = nodes
	return folded, norms
}

// takesNorm reports whether a batch norm may be folded into a node. The node must be one of
// Folded, without leading axes: with them the norm's channels are not the product's channels.
func takesNorm(n *graph.Node) bool {
	return slices.Contains(Folded, n.Op) && (n.Op != graph.Dense || n.Int("leading") == 0)
}

// Readers returns how often each value is read. A result of the function counts as
// read more than once.
func Readers(fn *graph.Function) map[graph.Value]int {
	uses := map[graph.Value]int{}
	for _, n := range fn.Nodes {
		for _, v := range n.In {
			uses[v]++
		}
	}
	for _, o := range fn.Outputs {
		uses[o.Value] += 2
	}
	for _, u := range fn.Updates {
		uses[u.Value] += 2
	}
	return uses
}

// withBias returns the operands of a product, with None for an absent bias.
func withBias(n *graph.Node) []graph.Value {
	in := slices.Clone(n.In)
	if len(in) == 2 {
		in = append(in, graph.None)
	}
	return in
}

// allState reports whether these values are state. None counts as state.
func allState(fn *graph.Function, values []graph.Value) bool {
	return !slices.ContainsFunc(values, func(v graph.Value) bool {
		return v != graph.None && fn.Values[v].State == ""
	})
}

// By returns the factor for the weights of an output channel, gamma /
// sqrt(variance + eps). A weight is multiplied by it in float64 and rounded once.
func (n Norm) By(gamma, variance float32) float64 {
	return float64(gamma) / math.Sqrt(float64(variance)+n.Eps)
}

// Add returns the new bias of an output channel, beta + shift*factor, rounded once. shift is the old bias,
// if there is one, minus the mean. factor is the result of By.
func (n Norm) Add(beta float32, shift, factor float64) float32 {
	return float32(float64(beta) + float64(shift*factor))
}
