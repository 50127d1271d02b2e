package collective

import (
	"github.com/bnctl/bnctl/tensor"
)

// Assembly combines the partial values of the members of one group along the tree.
// The result has the bits of Combine, but the partial values are not overwritten. An
// Assembly must be used by one goroutine at a time.
type Assembly struct {
	root     *joint
	partials []int           // number of partial values of each rank
	scratch  []tensor.Tensor // memory by depth, as large as the largest use so far
}

// joint is a node of the tree. It is either a member's partial value or the sum of two halves.
type joint struct {
	rank, index int
	left, right *joint
}

// NewAssembly returns the assembly of a group. replicas has the replicas of each member, by
// rank. Each of 0 to leaves-1 occurs exactly once.
func NewAssembly(leaves int, replicas [][]int) *Assembly {
	a := &Assembly{}
	at := map[Node]*joint{}
	for rank, local := range replicas {
		cover := Cover(leaves, local)
		a.partials = append(a.partials, len(cover))
		for i, n := range cover {
			at[n] = &joint{rank: rank, index: i}
		}
	}
	if leaves > 0 {
		a.root = assemble(Root(leaves), at)
	}
	return a
}

func assemble(n Node, joints map[Node]*joint) *joint {
	if j := joints[n]; j != nil || n.Leaf() {
		return j
	}
	l, r := n.Children()
	return &joint{left: assemble(l, joints), right: assemble(r, joints)}
}

// Partials returns how many partial values a rank has.
func (a *Assembly) Partials(rank int) int { return a.partials[rank] }

// Into sets dst to the root of the tree. partial returns partial value i of a rank, or the zero Tensor if
// the replicas of this partial value have no rows. If no partial value is present, dst becomes zeros.
func (a *Assembly) Into(dst tensor.Tensor, o Op, partial func(rank, i int) tensor.Tensor) {
	switch v := a.value(a.root, 0, dst, o, partial); {
	case v.IsZero():
		clear(dst.Bytes)
	case len(v.Bytes) > 0 && &v.Bytes[0] != &dst.Bytes[0]:
		copy(dst.Bytes, v.Bytes)
	}
}

// value returns the value of j. This is a partial value, or a sum that value has stored in dst.
func (a *Assembly) value(j *joint, depth int, dst tensor.Tensor, o Op,
	partial func(rank, i int) tensor.Tensor) tensor.Tensor {
	switch {
	case j == nil:
		return tensor.Tensor{}
	case j.left == nil:
		return partial(j.rank, j.index)
	}
	left := a.value(j.left, depth+1, dst, o, partial)
	if left.IsZero() {
		return a.value(j.right, depth+1, dst, o, partial)
	}
	right := a.value(j.right, depth+1, a.scratchAt(depth, dst), o, partial)
	if right.IsZero() {
		return left
	}
	o.combine(dst, left, right)
	return dst
}

// scratchAt returns memory for a value like dst at a depth of the tree.
func (a *Assembly) scratchAt(depth int, dst tensor.Tensor) tensor.Tensor {
	for len(a.scratch) <= depth {
		a.scratch = append(a.scratch, tensor.Tensor{})
	}
	n := len(dst.Bytes)
	if len(a.scratch[depth].Bytes) < n {
		a.scratch[depth] = tensor.New(tensor.U8, n)
	}
	dst.Bytes = a.scratch[depth].Bytes[:n:n]
	return dst
}
