package node

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

// Nothing is the constant that is returned after an error.
var Nothing = tensor.New(tensor.F32, 0)

// Reserve subtracts the size of a constant with this type and shape from the budget, and reports
// whether the budget was sufficient.
func (c *Node) Reserve(d tensor.DType, shape []int) bool {
	if c.Err != nil {
		return false
	}
	size, err := tensor.Size(d, shape)
	if err == nil && len(shape) > tensor.MaxRank {
		err = fmt.Errorf("a result of rank %d", len(shape))
	}
	if err != nil {
		c.Fail("%w", err)
	} else if c.FoldBudget -= size; c.FoldBudget < 0 {
		c.Fail("%w", c.OverBudget())
	}
	return c.Err == nil
}

// NewConstant returns a new constant if the budget allows it.
func (c *Node) NewConstant(d tensor.DType, shape []int) tensor.Tensor {
	if !c.Reserve(d, shape) {
		return Nothing
	}
	return tensor.New(d, shape...)
}

// Gathered is like element.Gather, but returns Nothing and fails if the budget is
// insufficient.
func (c *Node) Gathered(t tensor.Tensor, shape []int, offset func(index []int) int) tensor.Tensor {
	if !c.Reserve(t.DType, shape) {
		return Nothing
	}
	return element.Gather(t, shape, offset)
}

// ToF32 converts a constant if the budget allows it.
func (c *Node) ToF32(t tensor.Tensor) tensor.Tensor {
	if t.DType == tensor.F32 {
		return t
	}
	if !c.Reserve(tensor.F32, t.Shape) {
		return tensor.Scalar(float32(0))
	}
	f, err := t.ToF32()
	if err != nil {
		c.Fail("%w", err)
		return tensor.Scalar(float32(0))
	}
	return f
}

// Integers reads operand i of a fold, which must have integers or truth values.
func (c *Node) Integers(i int) (t tensor.Tensor, value func(k int) int64) {
	t = c.Required(i)
	if c.Err == nil {
		var err error
		if value, err = element.Integers(t); err != nil {
			c.Fail("operand %d: %w", i, err)
		}
	}
	return t, value
}

// Reals reads operand i of a fold, which must have floats.
func (c *Node) Reals(i int) (t tensor.Tensor, value func(k int) float64) {
	t = c.Required(i)
	if c.Err == nil {
		var err error
		if value, err = element.Reals(t); err != nil {
			c.Fail("operand %d: %w", i, err)
		}
	}
	return t, value
}

// Indices reads operand i as indices of an axis of n elements. Negative indices count from its end.
func (c *Node) Indices(i, n int) (t tensor.Tensor, indices []int) {
	t, read := c.Integers(i)
	if c.Err != nil {
		return Nothing, nil
	}
	indices = make([]int, t.Count())
	for k := range indices {
		v := c.Concrete(read(k))
		if v < -int64(n) || v >= int64(n) {
			c.Fail("index %d of an axis of %d", v, n)
			return Nothing, nil
		}
		if v < 0 {
			v += int64(n)
		}
		indices[k] = int(v)
	}
	return t, indices
}

// Within checks that indices are inside a shape on all axes except one.
func (c *Node) Within(index, shape []int, axis int) bool {
	ok := len(index) == len(shape)
	for a := range index {
		ok = ok && (a == axis || index[a] <= shape[a])
	}
	if !ok {
		c.Fail("indices of the shape %v for %v", index, shape)
	}
	return c.Err == nil
}

// Tuples reads operand 1 as tuples of indices into the axes of a shape. The tuples do not index the
// first axes; common is the number of these axes. begins has the offsets of the indexed blocks, and
// block is their size.
func (c *Node) Tuples(shape []int, common int) (begins []int, block int) {
	index, at := c.Integers(1)
	rank := len(index.Shape)
	if c.Err == nil && (rank <= common || len(shape) < common ||
		!slices.Equal(index.Shape[:common], shape[:common]) || index.Shape[rank-1] > len(shape)-common ||
		index.Shape[rank-1] == 0) {
		c.Fail("indices of the shape %v for %v", index.Shape, shape)
	}
	if c.Err != nil {
		return nil, 0
	}
	n, step := index.Shape[rank-1], element.Strides(shape)
	block = tensor.Count(shape[common+n:])
	count := index.Count() / n
	each := count / max(tensor.Count(index.Shape[:common]), 1)
	for k := range count {
		begin := k / max(each, 1) * tensor.Count(shape[common:])
		for i := range n {
			v, length := c.Concrete(at(k*n+i)), int64(shape[common+i])
			if v < -length || v >= length {
				c.Fail("index %d of an axis of %d", v, length)
				return nil, 0
			}
			begin += int((v+length)%length) * step[common+i]
		}
		begins = append(begins, begin)
	}
	return begins, block
}

// BlocksShape returns the shape of the blocks that operand 1 selects. Operand 1 has tuples
// of indices into the given shape.
func (c *Node) BlocksShape(shape []int) []int {
	index := c.In[1].Tensor.Shape
	last := len(index) - 1
	return slices.Concat(index[:last], shape[index[last]:])
}
