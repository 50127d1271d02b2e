package onnx

import (
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// firstShape returns the shape of the first operand that depends on the input.
func (c *call) firstShape() []int {
	for _, x := range c.In {
		if !x.IsConstant() {
			return c.ShapeOf(x)
		}
	}
	c.Fail("has no operand that is computed from the input")
	return nil
}

// value returns operand i as a value with a row of the given rank for each sample. If the
// operand is a constant, all rows are equal.
func (c *call) value(i, rank int) graph.Value {
	if i < len(c.In) && c.Has(i) && c.In[i].IsConstant() {
		shape := c.In[i].Tensor.Shape
		if !c.Unbatched {
			shape = c.aligned(shape, rank+1)
		}
		if c.Err != nil {
			return graph.None
		}
		return c.inRows(i, shape)
	}
	return c.Dynamic(i)
}

// inRows repeats constant i in the row of each sample. The first operand that is not
// constant determines the number of rows. The values of that operand are not used.
func (c *call) inRows(i int, shape []int) graph.Value {
	from := graph.None
	for _, x := range c.In {
		if !x.IsConstant() {
			from = x.V
			break
		}
	}
	return c.everyRow(from, c.state(i, c.learned(i, joined), shape...), shape)
}

// everyRow broadcasts a constant to a shape and repeats it in every row of the value rows.
func (c *call) everyRow(rows, constant graph.Value, shape []int) graph.Value {
	if c.Err != nil {
		return graph.None
	}
	s := c.g.Type(rows).Shape
	if tensor.Count(s) == 0 {
		c.Fail("beside a value without elements is not supported")
		return graph.None
	}
	if len(s) > 0 {
		rows = c.node(graph.Slice, ".one", []graph.Value{rows}, "begin", make([]int, len(s)), "end",
			slices.Repeat([]int{1}, len(s)))
	}
	v := c.node(graph.Reshape, ".number", []graph.Value{rows}, "shape", []int{1})
	v = c.node(graph.Pad, ".behind", []graph.Value{v}, "before", []int{1}, "after", []int{0})
	v = c.node(graph.Slice, ".zero", []graph.Value{v}, "begin", []int{0}, "end", []int{1})
	v = c.node(graph.Reshape, ".axes", []graph.Value{v}, "shape", slices.Repeat([]int{1}, len(shape)))
	v = c.node(graph.BroadcastTo, ".zeros", []graph.Value{v}, "shape", shape)
	return c.node(graph.Add, ".constant", []graph.Value{v, constant})
}

// aligned returns the shape with which a constant broadcasts to the rows of a value. rank is
// the rank of the value including the batch. In operator set 6 an attribute may name the first
// axis of the constant.
func (c *call) aligned(shape []int, rank int) []int {
	shape = slices.Clone(shape)
	if c.Opset < 7 && c.Int("broadcast", 0) != 0 && c.Attribute("axis") != nil {
		for at := c.Int("axis", 0); len(shape) < rank-at && at >= 0; {
			shape = append(shape, 1)
		}
	}
	if c.Unbatched {
		return shape
	}
	for len(shape) >= rank && len(shape) > 0 {
		if shape[0] != 1 {
			c.FailAcrossBatch("with a constant that has an axis of %d for the batch", shape[0])
			return nil
		}
		if len(shape) > rank {
			c.FailAcrossBatch("with a constant of rank %d makes more axes than the value has", len(shape))
			return nil
		}
		shape = shape[1:]
	}
	return shape
}

// checkAligned checks that the batch axes of two operands coincide. The operands are aligned at
// their last axes.
func (c *call) checkAligned(i, k int) {
	if a, b := len(c.Shape(i)), len(c.Shape(k)); a != b && !c.Unbatched {
		c.FailAcrossBatch("of values of rank %d and %d, whose batch axes do not meet", a+1, b+1)
	}
}

// operandPair returns both operands, which must broadcast. One may be constant.
func (c *call) operandPair() []graph.Value {
	if len(c.In) != 2 {
		c.Fail("has %d operands, want 2", len(c.In))
		return nil
	}
	return c.broadcastOperands(0, 1)
}

// broadcastOperands returns operands that broadcast. The batch axes of values coincide, and constants
// are the same in every row.
func (c *call) broadcastOperands(operands ...int) []graph.Value {
	first := slices.IndexFunc(operands, func(i int) bool { return !c.In[i].IsConstant() })
	var out []graph.Value
	for _, i := range operands {
		switch {
		case !c.Has(i):
			c.Fail("operand %d is absent", i)
		case c.In[i].IsConstant():
			if c.In[i].Tensor.DType == tensor.Bool {
				c.In[i].Tensor = fold.CastTo(&c.Node, c.In[i].Tensor, tensor.F32)
			}
			shape := c.aligned(c.In[i].Tensor.Shape, c.Rank(operands[first]))
			role := graph.Constant
			if !table[decode.Operator(c.Proto)].integers.has(tellApart) {
				role = c.learned(i, joined)
			}
			out = append(out, c.state(i, role, shape...))
		default:
			c.checkAligned(operands[first], i)
			out = append(out, c.Dynamic(i))
		}
	}
	return out
}

// number declares a number that an operator uses.
func (c *call) number(name string, v float64) graph.Value {
	return c.declare(name, graph.Constant, tensor.Scalar(float32(v)))
}

// compare returns 1 where a relation, for example greater, holds between an element of a and the element of
// b, and 0 elsewhere.
func (c *call) compare(suffix, relation string, a, b graph.Value) graph.Value {
	return c.node(graph.Compare, suffix, []graph.Value{a, b}, "of", relation)
}

// shortest returns the number with the fewest digits that is the same float32 as v: 0.001, not
// 0.0010000000474974513.
func shortest(v float64) float64 {
	f, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', -1, 32), 64)
	return f
}
