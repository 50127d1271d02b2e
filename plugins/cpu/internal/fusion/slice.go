package fusion

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// Cut is what an operand was before the slices that made it were made part of the node that reads it: of
// what the node reads instead, elements from Begin on, every Step along each axis, that have this shape.
type Cut struct{ Begin, Step, Shape []int }

// slice makes slices that only node i reads, a concatenation or a slice itself, part of that.
func (u *fuser) slice(i int) {
	n := &u.fn.Nodes[i]
	cuts := make([]*Cut, len(n.In))
	for k, v := range n.In {
		if !u.alone(v, graph.Slice) || !u.rows(v) {
			continue
		}
		s := &u.fn.Nodes[u.made[v]]
		cuts[k] = u.cutOf(s)
		if n.Op == graph.Slice {
			cuts[k] = cuts[k].of(u.cutOf(n))
		}
		n.In[k] = s.In[0]
		u.gone[u.made[v]] = true
	}
	if slices.ContainsFunc(cuts, func(c *Cut) bool { return c != nil }) {
		y := n.Out[0]
		u.fused[y] = Fused{Given: y, Cuts: cuts}
	}
}

// cutOf returns what a slice takes of what it reads by now.
func (u *fuser) cutOf(n *graph.Node) *Cut {
	if f := u.fused[n.Out[0]]; f.Cuts != nil {
		return f.Cuts[0]
	}
	return &Cut{n.Ints("begin"), n.SliceStep(), u.fn.Values[n.Out[0]].Type.Shape}
}

// of returns the cut of what inner takes of c.
func (c *Cut) of(inner *Cut) *Cut {
	out := &Cut{slices.Clone(c.Begin), slices.Clone(c.Step), inner.Shape}
	for axis := range out.Begin {
		out.Begin[axis] += c.Step[axis] * inner.Begin[axis]
		out.Step[axis] *= inner.Step[axis]
	}
	return out
}
