package cpu

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// ending is what a normalisation does to its result besides: the node itself
// has the value to add as its last operand.
type ending struct {
	plus bool
	relu bool
	most float32
}

// fuse returns fn with the additions and activations that follow a
// normalisation, and nothing else reads it, made part of it. The results have
// the bits that the nodes one by one would give. endings are by the result of
// the normalisation, which is that of the last node taken in.
func fuse(fn *graph.Function) (fused *graph.Function, endings map[graph.Value]ending) {
	u := newFuser(fn)
	endings = map[graph.Value]ending{}
	for _, want := range [][]graph.Op{{graph.Relu, graph.Relu6}, {graph.Add}} {
		for i, n := range fn.Nodes {
			if slices.Contains(want, n.Op) && !u.gone[i] {
				u.node(i, endings)
			}
		}
	}
	return u.result(), endings
}

// fuser is the state of fuse.
type fuser struct {
	fn   *graph.Function
	made map[graph.Value]int // the node that makes a value
	uses map[graph.Value]int
	gone map[int]bool // nodes that others have taken in
}

func newFuser(fn *graph.Function) *fuser {
	u := &fuser{fn: fn.Clone(), made: map[graph.Value]int{}, uses: map[graph.Value]int{}, gone: map[int]bool{}}
	for i, n := range fn.Nodes {
		for _, v := range n.Out {
			u.made[v] = i
		}
		for _, v := range n.In {
			u.uses[v]++
		}
	}
	for _, o := range fn.Outputs {
		u.uses[o.Value] += 2
	}
	for _, o := range fn.Updates {
		u.uses[o.Value] += 2
	}
	return u
}

// result returns the function without the nodes that others have taken in.
func (u *fuser) result() *graph.Function {
	var nodes []graph.Node
	for i, n := range u.fn.Nodes {
		if !u.gone[i] {
			nodes = append(nodes, n)
		}
	}
	u.fn.Nodes = nodes
	return u.fn
}

// node tries to make node i the end of a normalisation.
func (u *fuser) node(i int, endings map[graph.Value]ending) {
	n := u.fn.Nodes[i]
	var e ending
	switch n.Op {
	case graph.Relu:
		e.relu, e.most = true, float32(math.Inf(1))
	case graph.Relu6:
		e.relu, e.most = true, 6
	}
	norm, plus := graph.None, graph.None
	var gone []int
	switch {
	case n.Op == graph.Add:
		norm, plus = u.addends(i)
	case u.alone(n.In[0], graph.Add):
		add := u.made[n.In[0]]
		norm, plus = u.addends(add)
		gone = append(gone, add)
	case u.alone(n.In[0], graph.Normalise, graph.BatchNorm):
		norm = n.In[0]
	}
	if norm == graph.None {
		return
	}
	k := u.made[norm]
	joined := u.fn.Nodes[k]
	joined.Out = n.Out
	if plus != graph.None {
		e.plus = true
		joined.In = append(slices.Clone(joined.In), plus)
	}
	u.fn.Nodes[i] = joined
	endings[n.Out[0]] = e
	for _, g := range append(gone, k) {
		u.gone[g] = true
	}
}

// alone reports whether v is made by one of these operations, not taken in by
// another yet, and read once.
func (u *fuser) alone(v graph.Value, ops ...graph.Op) bool {
	i, ok := u.made[v]
	return ok && u.uses[v] == 1 && !u.gone[i] && slices.Contains(ops, u.fn.Nodes[i].Op) &&
		len(u.fn.Nodes[i].Out) == 1 && u.fn.Nodes[i].Out[0] == v
}

// addends returns the operands of an addition as a normalisation that only it
// reads, the later one if both are, and the other; None if it is no such.
func (u *fuser) addends(i int) (norm, plus graph.Value) {
	a, b := u.fn.Nodes[i].In[0], u.fn.Nodes[i].In[1]
	if a == b || !u.alike(a, b) {
		return graph.None, graph.None
	}
	if u.made[a] > u.made[b] {
		a, b = b, a
	}
	switch {
	case u.alone(b, graph.Normalise, graph.BatchNorm):
		return b, a
	case u.alone(a, graph.Normalise, graph.BatchNorm):
		return a, b
	}
	return graph.None, graph.None
}

// alike reports whether a and b are rows of float32 of one shape.
func (u *fuser) alike(a, b graph.Value) bool {
	s, t := u.fn.Values[a].Type, u.fn.Values[b].Type
	return s.Kind == graph.Rows && t.Kind == graph.Rows && s.DType == tensor.F32 && slices.Equal(s.Shape,
		t.Shape)
}
