package fusion

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// Region is the part of a slice's operand that a concatenation reads. If Shape is nil, it is the whole
// operand.
//
//	x  slice  a ──┐                       x ──┐ part of x
//	x  slice  b ──┴ concatenate           x ──┴ concatenate
//
// Some networks cut a value to pieces only to arrange them differently (YOLO's first layer does this with
// every other pixel of every other row, four times). The value is then copied once instead of three times.
type Region struct{ Begin, Step, Shape []int }

// regions changes a concatenation, node i. Instead of slices that only concatenations read, it reads
// the operands of these slices. A concatenation that interleaves channels reads contiguous channels.
func (u *fuser) regions(i int) {
	n := u.fn.Nodes[i]
	in, regions := slices.Clone(n.In), make([]Region, len(n.In))
	u.fn.Nodes[i].In = in
	for k := range in {
		for u.rows(in[k]) && u.onlyConcatenated(in[k]) {
			slice := u.fn.Nodes[u.maker[in[k]]]
			if u.fused[n.Out[0]].Groups > 0 && !u.ofChannels(&slice) {
				break
			}
			regions[k] = regions[k].ofOperand(&slice, u.fn.Values[in[k]].Type.Shape)
			in[k] = u.past(in[k])
		}
	}
	if !slices.ContainsFunc(regions, func(p Region) bool { return p.Shape != nil }) {
		return
	}
	f, ok := u.fused[n.Out[0]]
	if !ok {
		f.Given = n.Out[0]
	}
	f.Regions = regions
	u.fused[n.Out[0]] = f
}

// onlyConcatenated reports whether v is a slice with only concatenations as readers, or slices that in turn
// have only concatenations as readers.
func (u *fuser) onlyConcatenated(v graph.Value) bool {
	i, ok := u.maker[v]
	if !ok || u.gone[i] || u.fn.Nodes[i].Op != graph.Slice {
		return false
	}
	reads := 0
	for k, n := range u.fn.Nodes {
		for _, x := range n.In {
			switch {
			case x != v || u.gone[k]:
			case n.Op == graph.Concat || n.Op == graph.Slice && u.onlyConcatenated(n.Out[0]):
				reads++
			}
		}
	}
	return reads == u.uses[v]
}

// past lets one reader of slice v read the operand of the slice instead, and returns the operand. If it was
// the last reader, past removes the slice.
func (u *fuser) past(v graph.Value) graph.Value {
	i := u.maker[v]
	x := u.fn.Nodes[i].In[0]
	u.uses[v]--
	if u.uses[v] == 0 {
		u.gone[i] = true
		return x
	}
	u.uses[x]++
	return x
}

// ofChannels reports whether a slice selects contiguous channels.
func (u *fuser) ofChannels(slice *graph.Node) bool {
	x, y := u.fn.Values[slice.In[0]].Type.Shape, u.fn.Values[slice.Out[0]].Type.Shape
	return len(x) > 1 && slice.SliceStep()[0] == 1 && slices.Equal(x[1:], y[1:]) &&
		!slices.ContainsFunc(slice.SliceStep()[1:], func(n int) bool { return n < 1 })
}

// ofOperand returns a part of the operand of slice: the part that p is in the result of slice. shape is the
// shape of the result.
func (p Region) ofOperand(slice *graph.Node, shape []int) Region {
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
