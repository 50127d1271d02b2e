package fusion

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// Region is what a concatenation reads of an operand that a slice was taken of. Without a shape that is all.
//
//	x  slice  a ──┐                       x ──┐ part of x
//	x  slice  b ──┴ concatenate           x ──┴ concatenate
//
// So what a network cuts to pieces only to lay them otherwise (YOLO's first layer takes every other
// pixel of every other row, four times) is copied once instead of three times.
type Region struct{ Begin, Step, Shape []int }

// regions makes a concatenation, node i, read what slices that nothing else reads are taken of. One that
// lays channels by turns reads channels that lie side by side.
func (u *fuser) regions(i int) {
	n := u.fn.Nodes[i]
	in, regions := slices.Clone(n.In), make([]Region, len(n.In))
	for k := range in {
		for u.rows(in[k]) && u.alone(in[k], graph.Slice) {
			slice := u.fn.Nodes[u.made[in[k]]]
			if u.fused[n.Out[0]].Groups > 0 && !u.ofChannels(&slice) {
				break
			}
			regions[k] = regions[k].of(&slice, u.fn.Values[in[k]].Type.Shape)
			u.gone[u.made[in[k]]], in[k] = true, slice.In[0]
		}
	}
	if !slices.ContainsFunc(regions, func(p Region) bool { return p.Shape != nil }) {
		return
	}
	n.In = in
	u.fn.Nodes[i] = n
	f, ok := u.fused[n.Out[0]]
	if !ok {
		f.Given = n.Out[0]
	}
	f.Regions = regions
	u.fused[n.Out[0]] = f
}

// ofChannels reports whether a slice is of channels that lie side by side.
func (u *fuser) ofChannels(slice *graph.Node) bool {
	x, y := u.fn.Values[slice.In[0]].Type.Shape, u.fn.Values[slice.Out[0]].Type.Shape
	return len(x) > 1 && slice.SliceStep()[0] == 1 && slices.Equal(x[1:], y[1:]) &&
		!slices.ContainsFunc(slice.SliceStep()[1:], func(n int) bool { return n < 1 })
}

// of returns the part of the operand of a slice, which yields that shape, that p is of its result.
func (p Region) of(slice *graph.Node, shape []int) Region {
	begin, step := slice.Ints("begin"), slice.SliceStep()
	if p.Shape == nil {
		return Region{begin, step, shape}
	}
	q := Region{slices.Clone(begin), slices.Clone(step), p.Shape}
	for axis := range begin {
		q.Begin[axis] += p.Begin[axis] * step[axis]
		q.Step[axis] *= p.Step[axis]
	}
	return q
}
