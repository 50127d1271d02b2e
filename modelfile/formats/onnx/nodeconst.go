package onnx

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

// nothing is what stands for a constant after an error.
var nothing = tensor.New(tensor.F32, 0)

// reserve takes the size of a constant, of a shape and with elements of type d, from the budget,
// and reports whether that is possible.
func (c *Node) reserve(d tensor.DType, shape []int) bool {
	if c.err != nil {
		return false
	}
	size, err := tensor.Size(d, shape)
	if err == nil && len(shape) > tensor.MaxRank {
		err = fmt.Errorf("a result of rank %d", len(shape))
	}
	if err != nil {
		c.fail("%w", err)
	} else if c.foldBudget -= size; c.foldBudget < 0 {
		c.fail("%w", c.overBudget())
	}
	return c.err == nil
}

// newConstant returns a new constant if the budget allows it.
func (c *Node) newConstant(d tensor.DType, shape []int) tensor.Tensor {
	if !c.reserve(d, shape) {
		return nothing
	}
	return tensor.New(d, shape...)
}

// gathered is gatherElements if the budget allows it.
func (c *Node) gathered(t tensor.Tensor, shape []int, from func(index []int) int) tensor.Tensor {
	if !c.reserve(t.DType, shape) {
		return nothing
	}
	return element.Gather(t, shape, from)
}

// toF32 converts a constant if the budget allows it.
func (c *Node) toF32(t tensor.Tensor) tensor.Tensor {
	if t.DType == tensor.F32 {
		return t
	}
	if !c.reserve(tensor.F32, t.Shape) {
		return tensor.Scalar(float32(0))
	}
	f, err := t.ToF32()
	if err != nil {
		c.fail("%w", err)
		return tensor.Scalar(float32(0))
	}
	return f
}

// integers reads operand i of a fold, which has integers or truth values.
func (c *Node) integers(i int) (t tensor.Tensor, at func(k int) int64) {
	t = c.required(i)
	if c.err == nil {
		var err error
		if at, err = element.Integers(t); err != nil {
			c.fail("operand %d: %w", i, err)
		}
	}
	return t, at
}

// reals reads operand i of a fold, which has floats.
func (c *Node) reals(i int) (t tensor.Tensor, at func(k int) float64) {
	t = c.required(i)
	if c.err == nil {
		var err error
		if at, err = element.Reals(t); err != nil {
			c.fail("operand %d: %w", i, err)
		}
	}
	return t, at
}

// indices reads operand i as indices of an axis of n elements, the negative ones from its end.
func (c *Node) indices(i, n int) (t tensor.Tensor, at []int) {
	t, read := c.integers(i)
	if c.err != nil {
		return nothing, nil
	}
	at = make([]int, t.Count())
	for k := range at {
		v := c.concrete(read(k))
		if v < -int64(n) || v >= int64(n) {
			c.fail("index %d of an axis of %d", v, n)
			return nothing, nil
		}
		if v < 0 {
			v += int64(n)
		}
		at[k] = int(v)
	}
	return t, at
}

// within checks that indices lie inside a shape on all axes but one.
func (c *Node) within(index, shape []int, axis int) bool {
	ok := len(index) == len(shape)
	for a := range index {
		ok = ok && (a == axis || index[a] <= shape[a])
	}
	if !ok {
		c.fail("indices of the shape %v for %v", index, shape)
	}
	return c.err == nil
}

// tuples reads operand 1 as tuples of indices into the first axes of a shape
// behind some axes in common: where each begins, and how long what it names is.
func (c *Node) tuples(shape []int, common int) (begins []int, block int) {
	index, at := c.integers(1)
	rank := len(index.Shape)
	if c.err == nil && (rank <= common || len(shape) < common ||
		!slices.Equal(index.Shape[:common], shape[:common]) || index.Shape[rank-1] > len(shape)-common ||
		index.Shape[rank-1] == 0) {
		c.fail("indices of the shape %v for %v", index.Shape, shape)
	}
	if c.err != nil {
		return nil, 0
	}
	n, step := index.Shape[rank-1], element.Strides(shape)
	block = tensor.Count(shape[common+n:])
	count := index.Count() / n
	each := count / max(tensor.Count(index.Shape[:common]), 1)
	for k := range count {
		begin := k / max(each, 1) * tensor.Count(shape[common:])
		for i := range n {
			v, length := c.concrete(at(k*n+i)), int64(shape[common+i])
			if v < -length || v >= length {
				c.fail("index %d of an axis of %d", v, length)
				return nil, 0
			}
			begin += int((v+length)%length) * step[common+i]
		}
		begins = append(begins, begin)
	}
	return begins, block
}

// blocksShape is the shape of what is set at operand 1, tuples of indices of a shape.
func (c *Node) blocksShape(shape []int) []int {
	index := c.in[1].c.Shape
	last := len(index) - 1
	return slices.Concat(index[:last], shape[index[last]:])
}
