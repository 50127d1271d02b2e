package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// gemm: y = alpha*A*B + beta*C, where A is the only operand that is not constant.
func gemm(c *call) graph.Value {
	b, ok := c.constant(1)
	if !ok || len(b.Shape) != 2 || c.int("transA", 0) != 0 {
		c.fail("other than of rows with a constant matrix is not supported")
		return graph.None
	}
	transposed := c.int("transB", 0) != 0
	weight := c.matrix(b, transposed, float32(c.float("alpha", 1)))
	if c.err != nil {
		return graph.None
	}
	outputs := c.g.Type(weight).Shape[0]
	return c.node(graph.Dense, "", []graph.Value{c.flow(0), weight,
		c.addend(outputs, float32(c.float("beta", 1)))})
}

// matrix declares operand 1 as the weight [outputs, inputs] of a dense layer, times by.
func (c *call) matrix(b tensor.Tensor, transposed bool, by float32) graph.Value {
	t := c.toF32(b)
	if c.err != nil || !transposed && !c.takes(tensor.F32, t.Shape) {
		return graph.None
	}
	if !transposed {
		t = numbers{shape: t.Shape, f: t.F32()}.transposed().tensor()
	}
	return c.declare(c.n.Input[1], graph.Weight, c.scaled(t, by))
}

// transposed turns a matrix.
func (n numbers) transposed() numbers {
	rows, columns := n.shape[0], n.shape[1]
	return n.picked([]int{columns, rows}, func(at []int) int { return at[1]*columns + at[0] })
}

func (c *call) scaled(t tensor.Tensor, by float32) tensor.Tensor {
	if by == 1 || !c.takes(tensor.F32, t.Shape) {
		return t
	}
	out := t.Clone()
	for i := range out.F32() {
		out.F32()[i] *= by
	}
	return out
}

// addend declares what is added to n outputs: one number each, or one for all.
func (c *call) addend(n int, by float32) graph.Value {
	t, ok := c.constant(2)
	if !ok || by == 0 {
		return graph.None
	}
	t = c.toF32(t)
	if last := len(t.Shape) - 1; t.Count() != 1 && (t.Count() != n || t.Shape[last] != n) {
		c.fail("adds %v to %d outputs", t, n)
	}
	if c.err != nil {
		return graph.None
	}
	if t.Count() == 1 {
		t = tensor.Of(slices.Repeat(t.F32(), n), n)
	}
	return c.declare(c.n.Input[2], graph.Bias, c.scaled(t.Reshape(n), by))
}

// matMul of rows of one axis with a constant matrix.
func matMul(c *call) graph.Value {
	b, ok := c.constant(1)
	if s := c.shape(0); !ok || len(b.Shape) != 2 || len(s) != 1 {
		c.fail("other than of vectors with a constant matrix is not supported")
		return graph.None
	}
	return c.node(graph.Dense, "", []graph.Value{c.flow(0), c.matrix(b, false, 1)})
}
