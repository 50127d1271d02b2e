package fusion

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// Mask describes additional work of a node that computes the sums for the gradient of a normalisation. The
// node first computes the gradient of the activation after the normalisation, and then sums this gradient,
// which is its second result. Its additional operands are the value that the activation saves and the value
// that is added to the gradient first. If Norm is set, the node computes the saved value again, and has
// gamma and beta of Norm as operands instead.
type Mask struct {
	Plus  bool
	Most  float32     // bound of a relu6: where its result is Most or more, the gradient is 0; NaN for a relu
	Slope *graph.Node // the gradient of another activation; nil for a relu or relu6
	Norm  *graph.Node // the normalisation that computes the value that the activation saves, or nil
}

// Masks returns fn with the gradients of activations fused into the nodes that sum them first. It also
// fuses additions that serve only these gradients. The results have the same bits as with separate nodes.
// The keys of masks are the results of the sums. oneBlock reports whether a normalised value is summed row
// by row, ends is the result of Fuse, and slopes enables activations other than relu and relu6.
func Masks(fn *graph.Function, oneBlock func(graph.Variable) bool, ends map[graph.Value]Fused,
	slopes bool) (fused *graph.Function, masks map[graph.Value]Mask) {
	u := newFuser(fn)
	u.fused = ends
	masks = map[graph.Value]Mask{}
	for i, n := range fn.Nodes {
		if n.Op != graph.ActivationGrad {
			continue
		}
		switch of, _ := graph.ActivationNamed(n.Text("of")); of {
		case graph.Relu:
			u.mask(i, Mask{Most: float32(math.NaN())}, masks, oneBlock)
		case graph.Relu6:
			u.mask(i, Mask{Most: 6}, masks, oneBlock)
		default:
			if slopes {
				u.mask(i, Mask{Slope: &n}, masks, oneBlock)
			}
		}
	}
	return u.result(), masks
}

// mask merges the gradient of an activation, node i, into the sums that read it, if possible.
func (u *fuser) mask(i int, m Mask, masks map[graph.Value]Mask,
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
	operands := []graph.Value{sums.In[0], dy, sums.In[2], y}
	if m.Slope != nil {
		if m.Norm = u.again(y, sums.In[0], sums.In[2]); m.Norm != nil {
			operands = append(operands[:3], m.Norm.In[2:]...)
		}
	}
	if add := u.maker[dy]; u.hasOneReader(dy, graph.Add) && add < i && u.alike(u.fn.Nodes[add].In[0],
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

// again returns the node that normalises x by these moments, if y is its only result, so that y can be
// computed again. Otherwise it returns nil.
func (u *fuser) again(y, x, moments graph.Value) *graph.Node {
	i, ok := u.maker[y]
	if _, ends := u.fused[y]; !ok || ends {
		return nil
	}
	n := u.fn.Nodes[i]
	if n.Op != graph.Normalise || n.In[0] != x || n.In[1] != moments {
		return nil
	}
	return &n
}
