package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// makeDynamicMatMul reads a MatMul of two computed values. Their batch axes must match and precede the
// matrices. If the file has no batch axes, each row is a matrix.
func makeDynamicMatMul(c *call) graph.Value {
	a, b := c.Dynamic(0), c.Dynamic(1)
	s, t := c.Shape(0), c.Shape(1)
	if c.Unbatched {
		return makeUnbatchedMatMul(c, a, b)
	}
	if len(s) < 2 || len(t) < 2 {
		c.FailAcrossBatch("of values of rank %d and %d multiplies along the batch axis", len(s)+1, len(t)+1)
	}
	c.checkAligned(0, 1)
	return c.node(graph.MatMul, "", []graph.Value{a, b})
}

// makeUnbatchedMatMul reads a MatMul of values without a batch axis. A value with one axis is a
// row vector if it is the left operand, and a column vector if it is the right one. The result
// lacks that axis.
func makeUnbatchedMatMul(c *call, a, b graph.Value) graph.Value {
	s, t := c.Shape(0), c.Shape(1)
	if c.Err == nil && (len(s) == 0 || len(t) == 0) {
		c.Fail("of a number")
	}
	if c.Err != nil || len(s) > 1 && len(t) > 1 {
		return c.node(graph.MatMul, "", []graph.Value{a, b})
	}
	if len(s) == 1 {
		a = c.node(graph.Reshape, ".row", []graph.Value{a}, "shape", []int{1, s[0]})
	}
	if len(t) == 1 {
		b = c.node(graph.Reshape, ".column", []graph.Value{b}, "shape", []int{t[0], 1})
	}
	v := c.node(graph.MatMul, ".matrix", []graph.Value{a, b})
	if v == graph.None {
		return v
	}
	shape := slices.Clone(c.g.Type(v).Shape)
	if len(t) == 1 {
		shape = shape[:len(shape)-1]
	}
	if len(s) == 1 {
		at := len(shape) - 1
		if len(t) == 1 {
			at++
		}
		shape = slices.Delete(shape, at-1, at)
	}
	return c.node(graph.Reshape, "", []graph.Value{v}, "shape", shape)
}

// makeDynamicGemm computes y = alpha*A*B + beta*C for values without a batch axis.
func makeDynamicGemm(c *call) graph.Value {
	if !c.Unbatched {
		c.FailAcrossBatch("of rows with a matrix that is computed mixes the rows of the batch")
		return graph.None
	}
	alpha, beta := c.Float("alpha", 1), c.Float("beta", 1)
	v := c.node(graph.MatMul, ".product", []graph.Value{c.Dynamic(0), c.Dynamic(1)}, "transpose_a",
		c.Int("transA", 0) != 0, "transpose_b", c.Int("transB", 0) != 0)
	if alpha != 1 {
		v = c.node(graph.Affine, ".scaled", []graph.Value{v}, "by", shortest(alpha))
	}
	if !c.Has(2) || beta == 0 || c.Err != nil {
		return v
	}
	if c.IsDynamic(2) {
		add := c.Dynamic(2)
		if beta != 1 {
			add = c.node(graph.Affine, ".addend", []graph.Value{add}, "by", shortest(beta))
		}
		return c.node(graph.Add, "", []graph.Value{v, add})
	}
	t, _ := c.Constant(2)
	add := c.declare(c.Proto.Input[2], graph.Bias, scaleConstant(c, c.ToF32(t), float32(beta)))
	return c.node(graph.Add, "", []graph.Value{v, add})
}
