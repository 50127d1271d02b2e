package keras

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// flow is a value in the model and its layout.
type flow struct {
	v     graph.Value
	shape []int // shape in Keras, without the batch: (H, W, C)
	// kerasOrder means that v has its axes in Keras's order instead of channels first, as
	// inputs other than pictures have. It is false if both orders are the same.
	kerasOrder bool
	// flat is set if v is a flattened tensor with its elements in channels-first order,
	// although Keras has them channels last. It is the channels-first shape before
	// flattening; nil otherwise.
	flat []int
	// logits is the operand of the softmax over the channels that made v; graph.None
	// otherwise.
	logits graph.Value
}

// graphShape converts the shape of a tensor in Keras to the shape in the graph: (C, H, W).
func (b *build) graphShape(shape []int) []int {
	if b.first || len(shape) < 2 {
		return shape
	}
	last := len(shape) - 1
	return append([]int{shape[last]}, shape[:last]...)
}

// axis converts axis a of a tensor in Keras to the axis in the graph. rank is the rank of
// the tensor. The batch does not count.
func (b *build) axis(a, rank int) int {
	switch {
	case b.first || rank < 2:
		return a
	case a == rank-1:
		return 0
	}
	return a + 1
}

// keepsKerasOrder reports whether tensors of a rank, without the batch, enter and leave the
// model with the axes of Keras. Pictures, of three axes, have their channels first.
func (b *build) keepsKerasOrder(rank int) bool { return !b.first && rank > 1 && rank != 3 }

// axisInGraph converts axis a of a tensor in Keras to the axis of f's value.
func (b *build) axisInGraph(f flow, a int) int {
	if f.kerasOrder {
		return a
	}
	return b.axis(a, len(f.shape))
}

// toKeras returns the permutation from the graph's order of axes to Keras's order: axis i
// of Keras is axis toKeras[i] of the graph.
func (b *build) toKeras(rank int) []int {
	perm := make([]int, rank)
	for a := range perm {
		perm[a] = b.axis(a, rank)
	}
	return perm
}

// inverse returns the permutation that undoes p.
func inverse(p []int) []int {
	q := make([]int, len(p))
	for i, a := range p {
		q[a] = i
	}
	return q
}

// changesOrder reports whether a transposition of a shape changes the order of the
// elements: moving axes of length 1 does not.
func changesOrder(shape, perm []int) bool {
	long := slices.DeleteFunc(slices.Clone(perm), func(a int) bool { return shape[a] == 1 })
	return !slices.IsSorted(long)
}

// permuted returns t with axis i of the result being axis perm[i] of t.
func permuted(t tensor.Tensor, perm []int) tensor.Tensor {
	shape := make([]int, len(perm))
	stride := make([]int, len(perm))
	for i, a := range perm {
		shape[i] = t.Shape[a]
		stride[i] = tensor.Count(t.Shape[a+1:])
	}
	out := tensor.New(t.DType, shape...)
	src, dst := t.F32(), out.F32()
	at := make([]int, len(shape))
	from := 0
	for i := range dst {
		dst[i] = src[from]
		for a := len(shape) - 1; a >= 0; a-- {
			from += stride[a]
			if at[a]++; at[a] < shape[a] {
				break
			}
			from -= at[a] * stride[a]
			at[a] = 0
		}
	}
	return out
}

// mirrored reverses the last n axes of t, in place.
func mirrored(t tensor.Tensor, n int) {
	size := tensor.Count(t.Shape[len(t.Shape)-n:])
	for all := t.F32(); len(all) > 0; all = all[size:] {
		slices.Reverse(all[:size])
	}
}
