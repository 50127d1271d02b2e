package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// gemm: y = alpha*A*B + beta*C, where A is computed from the input.
func gemm(c *call) graph.Value {
	if c.isDynamic(1) {
		return c.dynamicGemm()
	}
	b, ok := c.constant(1)
	if !ok || len(b.Shape) != 2 {
		c.fail("other than of rows with a constant matrix is not supported")
		return graph.None
	}
	if c.int("transA", 0) != 0 {
		if !c.unbatched || len(c.shape(0)) != 2 {
			c.failAcrossBatch("with transA turns the batch axis")
			return graph.None
		}
		c.in[0].v = c.node(graph.Transpose, ".turned", []graph.Value{c.dynamic(0)}, "perm", []int{1, 0})
	}
	transposed := c.int("transB", 0) != 0
	weight := c.matrix(b, transposed, float32(c.float("alpha", 1)))
	if c.err != nil {
		return graph.None
	}
	outputs := c.g.Type(weight).Shape[0]
	if c.unbatched {
		return c.unbatchedGemm(weight, outputs)
	}
	return c.node(graph.Dense, "", []graph.Value{c.dynamic(0), weight,
		c.addend(outputs, float32(c.float("beta", 1)))})
}

// unbatchedGemm is a Gemm whose rows are an axis of the value.
func (c *call) unbatchedGemm(weight graph.Value, outputs int) graph.Value {
	s := c.shape(0)
	if inputs := c.g.Type(weight).Shape[1]; c.err == nil && (len(s) != 2 || s[1] != inputs) {
		c.fail("of %v with a matrix of %d inputs", s, inputs)
	}
	if c.err != nil {
		return graph.None
	}
	t, ok := c.constant(2)
	by := float32(c.float("beta", 1))
	if !ok || by == 0 || c.err != nil || t.Count() == 1 || slices.Equal(t.Shape, []int{outputs}) {
		return c.denseLast("", weight, c.addend(outputs, by))
	}
	v := c.denseLast(".product", weight, graph.None)
	shape, err := graph.Broadcast(t.Shape, []int{s[0], outputs})
	if err != nil || !slices.Equal(shape, []int{s[0], outputs}) {
		c.fail("adds %v to %v", t, []int{s[0], outputs})
		return graph.None
	}
	bias := c.declare(c.n.Input[2], graph.Bias, c.scaled(c.toF32(t), by))
	return c.node(graph.Add, "", []graph.Value{v, bias})
}

// matrix declares operand 1 as the weight [outputs, inputs] of a dense layer, times by.
func (c *call) matrix(b tensor.Tensor, transposed bool, by float32) graph.Value {
	t := c.toF32(b)
	if c.err != nil || !transposed && !c.reserve(tensor.F32, t.Shape) {
		return graph.None
	}
	if !transposed {
		t = transposeMatrix(t)
	}
	return c.declare(c.n.Input[1], graph.Weight, c.scaled(t, by))
}

// transposeMatrix returns a matrix of floats with its axes exchanged.
func transposeMatrix(t tensor.Tensor) tensor.Tensor {
	rows, columns := t.Shape[0], t.Shape[1]
	out := tensor.New(tensor.F32, columns, rows)
	from, to := t.F32(), out.F32()
	const block = 32 // lines of both stay in the cache
	for r := 0; r < rows; r += block {
		for k := range columns {
			for i := r; i < min(r+block, rows); i++ {
				to[k*rows+i] = from[i*columns+k]
			}
		}
	}
	return out
}

func (c *call) scaled(t tensor.Tensor, by float32) tensor.Tensor {
	if by == 1 || !c.reserve(tensor.F32, t.Shape) {
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

// matMulBias is a MatMul, and the bias that its only reader adds to it.
func matMulBias(c *call) []value {
	out := rows(matMul(c))
	out.added = c.added
	return []value{out}
}

// matMul of the last axis of a value with a constant matrix is a dense layer.
func matMul(c *call) graph.Value {
	if len(c.in) != 2 {
		c.fail("has %d operands, want 2", len(c.in))
		return graph.None
	}
	if c.in[0].isConstant() {
		return c.constantMatMul()
	}
	if c.isDynamic(1) {
		return c.dynamicMatMul()
	}
	b, _ := c.constant(1)
	for len(b.Shape) > 2 && b.Shape[0] == 1 && len(b.Shape) <= c.rank(0) {
		b = b.Reshape(b.Shape[1:]...)
	}
	s := c.shape(0)
	if c.err == nil && len(b.Shape) > 2 {
		return c.node(graph.MatMul, "", []graph.Value{c.dynamic(0), c.state(1, graph.Weight,
			c.aligned(b.Shape, c.rank(0))...)})
	}
	if c.err == nil && (len(s) == 0 || len(b.Shape) < 1 || s[len(s)-1] != b.Shape[0]) {
		c.fail("of a value of the shape %v with %v is not supported", s, b)
	}
	if c.err != nil {
		return graph.None
	}
	matrix := b.Reshape(b.Shape[0], b.Count()/max(b.Shape[0], 1))
	weight := c.matrix(matrix, false, 1)
	if len(b.Shape) == 2 {
		return c.denseLast("", weight, c.biasBehind(b.Shape[1]))
	}
	v := c.denseLast(".column", weight, graph.None)
	return c.node(graph.Reshape, "", []graph.Value{v}, "shape", s[:len(s)-1])
}

// denseLast is a dense layer along the last axis of operand 0, at every position of the axes before it.
func (c *call) denseLast(suffix string, weight, bias graph.Value) graph.Value {
	return c.node(graph.Dense, suffix, []graph.Value{c.dynamic(0), weight, bias}, "leading", len(c.shape(0))-1)
}

// conv1x1 multiplies a weight [out, in] with a value [in, n].
func (c *call) conv1x1(x, weight graph.Value, in, n, out int) graph.Value {
	x = c.node(graph.Reshape, ".image", []graph.Value{x}, "shape", []int{in, 1, n})
	w := c.node(graph.Reshape, ".kernel", []graph.Value{weight}, "shape", []int{out, in, 1, 1})
	x = c.node(graph.Conv, ".conv", []graph.Value{x, w, graph.None})
	return c.node(graph.Reshape, ".matrix", []graph.Value{x}, "shape", []int{out, n})
}

// constantMatMul is a constant matrix times a matrix of values.
func (c *call) constantMatMul() graph.Value {
	a, _ := c.constant(0)
	s := c.shape(1)
	for len(a.Shape) > 2 && a.Shape[0] == 1 && len(a.Shape) <= c.rank(1) {
		a = a.Reshape(a.Shape[1:]...)
	}
	if !c.unbatched && len(s) < 2 {
		c.failAcrossBatch("of %v with a value of the shape %v multiplies along the batch axis", a, s)
	}
	if c.err == nil && (len(a.Shape) < 2 || len(s) < 2 || s[len(s)-2] != a.Shape[len(a.Shape)-1]) {
		c.fail("of %v with a value of the shape %v is not supported", a, s)
	}
	if c.err != nil {
		return graph.None
	}
	if len(a.Shape) > 2 || tensor.Count(s) != s[len(s)-1]*s[len(s)-2] {
		return c.node(graph.MatMul, "", []graph.Value{c.state(0, graph.Weight, c.aligned(a.Shape, c.rank(1))...),
			c.dynamic(1)})
	}
	w := c.declare(c.n.Input[0], graph.Weight, c.toF32(a))
	in, n := s[len(s)-2], s[len(s)-1]
	v := c.conv1x1(c.dynamic(1), w, in, n, a.Shape[0])
	shape := append(slices.Clone(s[:len(s)-2]), a.Shape[0], n)
	return c.node(graph.Reshape, "", []graph.Value{v}, "shape", shape)
}
