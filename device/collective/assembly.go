package collective

import (
	"github.com/bnctl/bnctl/tensor"
)

// Assembly is how the parts of the members of one group make up the tree. It
// completes what Combine completes, bit for bit, but leaves all parts as they
// are. It is used by one goroutine at a time.
type Assembly struct {
	root    *joint
	parts   []int           // of each rank
	scratch []tensor.Tensor // by depth, as large as was ever needed
}

// joint is a node of the tree that is a member's part or has two halves.
type joint struct {
	rank, index int
	left, right *joint
}

// NewAssembly returns the assembly of a group whose members hold these
// replicas, by rank: together each of 0 to leaves-1 once.
func NewAssembly(leaves int, replicas [][]int) *Assembly {
	a := &Assembly{}
	at := map[Node]*joint{}
	for rank, held := range replicas {
		cover := Cover(leaves, held)
		a.parts = append(a.parts, len(cover))
		for i, n := range cover {
			at[n] = &joint{rank: rank, index: i}
		}
	}
	if leaves > 0 {
		a.root = assemble(Root(leaves), at)
	}
	return a
}

func assemble(n Node, at map[Node]*joint) *joint {
	if j := at[n]; j != nil || n.Leaf() {
		return j
	}
	l, r := n.Children()
	return &joint{left: assemble(l, at), right: assemble(r, at)}
}

// Parts returns how many parts a rank brings.
func (a *Assembly) Parts(rank int) int { return a.parts[rank] }

// Into sets dst to the root of the tree. part returns part i of a rank, the
// zero Tensor if it is absent. Where all are absent dst becomes zeros.
func (a *Assembly) Into(dst tensor.Tensor, o Op, part func(rank, i int) tensor.Tensor) {
	switch v := a.value(a.root, 0, dst, o, part); {
	case v.IsZero():
		clear(dst.Bytes)
	case len(v.Bytes) > 0 && &v.Bytes[0] != &dst.Bytes[0]:
		copy(dst.Bytes, v.Bytes)
	}
}

// value returns the value of j: a part, or what it has put into dst.
func (a *Assembly) value(j *joint, depth int, dst tensor.Tensor, o Op,
	part func(rank, i int) tensor.Tensor) tensor.Tensor {
	switch {
	case j == nil:
		return tensor.Tensor{}
	case j.left == nil:
		return part(j.rank, j.index)
	}
	left := a.value(j.left, depth+1, dst, o, part)
	if left.IsZero() {
		return a.value(j.right, depth+1, dst, o, part)
	}
	right := a.value(j.right, depth+1, a.room(depth, dst), o, part)
	if right.IsZero() {
		return left
	}
	o.combine(dst, left, right)
	return dst
}

// room returns memory for a value like dst at a depth of the tree.
func (a *Assembly) room(depth int, dst tensor.Tensor) tensor.Tensor {
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
