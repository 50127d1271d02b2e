package fusion

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// Mask is what the sums of a normalisation's gradient do besides: they make
// the gradient that they sum, of a relu or a relu6 behind the normalisation.
// The node has the result of the activation as an operand behind its own, then
// what is added to the gradient, and the gradient as a second result.
type Mask struct {
	Plus bool
	Most float32 // results of it and above are masked; NaN for a relu
}

// Masks returns fn with the gradients of activations made part of the sums
// that read them first, and additions that make only them too. The results
// have the bits that the nodes would give one by one. masks are by the sums. oneBlock
// reports of what is normalised whether it is summed row by row.
func Masks(fn *graph.Function, oneBlock func(graph.Variable) bool) (fused *graph.Function,
	masks map[graph.Value]Mask) {
	u := newFuser(fn)
	masks = map[graph.Value]Mask{}
	for i, n := range fn.Nodes {
		if n.Op != graph.ActivationGrad {
			continue
		}
		switch of, _ := graph.ActivationNamed(n.Text("of")); of {
		case graph.Relu:
			u.mask(i, float32(math.NaN()), masks, oneBlock)
		case graph.Relu6:
			u.mask(i, 6, masks, oneBlock)
		}
	}
	return u.result(), masks
}

// mask tries to make the gradient of an activation, node i, part of the sums.
func (u *fuser) mask(i int, most float32, masks map[graph.Value]Mask,
	oneBlock func(graph.Variable) bool) {
	n := u.fn.Nodes[i]
	y, dy, dx := n.In[0], n.In[1], n.Out[0]
	k := slices.IndexFunc(u.fn.Nodes, func(n graph.Node) bool { return slices.Contains(n.In, dx) })
	if k < 0 || u.fn.Nodes[k].Op != graph.NormaliseGradSums || !u.alike(y, dy) || !u.alike(y, dx) {
		return
	}
	sums := u.fn.Nodes[k]
	if sums.In[1] != dx || sums.In[0] == dx || !oneBlock(u.fn.Values[sums.In[0]]) {
		return
	}
	m := Mask{Most: most}
	operands := []graph.Value{sums.In[0], dy, sums.In[2], y}
	if add := u.made[dy]; u.alone(dy, graph.Add) && add < i && u.alike(u.fn.Nodes[add].In[0],
		u.fn.Nodes[add].In[1]) {
		m.Plus = true
		operands[1] = u.fn.Nodes[add].In[0]
		operands = append(operands, u.fn.Nodes[add].In[1])
		u.gone[add] = true
	}
	sums.In, sums.Out = operands, []graph.Value{sums.Out[0], dx}
	u.fn.Nodes[k], u.gone[i] = sums, true
	masks[sums.Out[0]] = m
}
