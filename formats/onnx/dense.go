package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		// The attribute broadcast, which exists up to operator set 6, only affects the shape of C.
		"Gemm": {attributes: accept(3, "alpha beta transA transB", "broadcast"),
			refused: "transA or a matrix that is computed, unless the file fixes the batch to 1",
			make:    oneResult(gemm),
			fold:    fold.One(fold.Gemm), batch: batchaxis.Gemm},
		"MatMul": {attributes: accept(2, ""), refused: "of computed values whose batch axes do not meet",
			make: matMulBias, fold: fold.One(fold.MatMul), batch: batchaxis.Product,
			traits: onWeights | alignsBatch},
	})
}

// gemm computes y = alpha*A*B + beta*C. A depends on the input.
func gemm(c *call) graph.Value {
	if c.IsDynamic(1) {
		return makeDynamicGemm(c)
	}
	b, ok := c.Constant(1)
	if !ok || len(b.Shape) != 2 {
		c.Fail("other than of rows with a constant matrix is not supported")
		return graph.None
	}
	if c.Int("transA", 0) != 0 {
		if !c.Unbatched || len(c.Shape(0)) != 2 {
			c.FailAcrossBatch("with transA turns the batch axis")
			return graph.None
		}
		c.In[0].V = c.node(graph.Transpose, ".turned", []graph.Value{c.Dynamic(0)}, "perm", []int{1, 0})
	}
	if !c.checkDequantised(1, b) {
		return graph.None
	}
	transposed := c.Int("transB", 0) != 0
	weight := declareMatrix(c, b, transposed, float32(c.Float("alpha", 1)))
	if c.Err != nil {
		return graph.None
	}
	outputs := c.g.Type(weight).Shape[0]
	if c.Unbatched {
		return makeUnbatchedGemm(c, weight, outputs)
	}
	return c.node(graph.Dense, "", []graph.Value{c.Dynamic(0), weight,
		declareAddend(c, outputs, float32(c.Float("beta", 1)))})
}

// makeUnbatchedGemm adds a Gemm of a value without a batch axis. The rows of the matrix A are an
// axis of the value.
func makeUnbatchedGemm(c *call, weight graph.Value, outputs int) graph.Value {
	s := c.Shape(0)
	if inputs := c.g.Type(weight).Shape[1]; c.Err == nil && (len(s) != 2 || s[1] != inputs) {
		c.Fail("of %v with a matrix of %d inputs", s, inputs)
	}
	if c.Err != nil {
		return graph.None
	}
	t, ok := c.Constant(2)
	by := float32(c.Float("beta", 1))
	if !ok || by == 0 || c.Err != nil || t.Count() == 1 || slices.Equal(t.Shape, []int{outputs}) {
		return addDense(c, "", weight, declareAddend(c, outputs, by))
	}
	v := addDense(c, ".product", weight, graph.None)
	shape, err := graph.Broadcast(t.Shape, []int{s[0], outputs})
	if err != nil || !slices.Equal(shape, []int{s[0], outputs}) {
		c.Fail("adds %v to %v", t, []int{s[0], outputs})
		return graph.None
	}
	bias := c.declare(c.Proto.Input[2], graph.Bias, scaleConstant(c, c.ToF32(t), by))
	return c.node(graph.Add, "", []graph.Value{v, bias})
}

// declareMatrix declares operand 1, multiplied by factor, as the weight [outputs, inputs] of a dense layer.
func declareMatrix(c *call, b tensor.Tensor, transposed bool, factor float32) graph.Value {
	if c.isLifted(1) && factor == 1 {
		v := c.inShape(c.lift(c.Proto.Input[1], graph.Weight), b.Shape)
		if !transposed {
			v = c.node(graph.Transpose, ".turned", []graph.Value{v}, "perm", []int{1, 0})
		}
		return v
	}
	t := c.ToF32(b)
	if c.Err != nil || !transposed && !c.Reserve(tensor.F32, t.Shape) {
		return graph.None
	}
	if !transposed {
		t = transposeMatrix(t)
	}
	var moves []models.Move
	if !transposed {
		moves = []models.Move{{Perm: []int{1, 0}}}
	}
	return c.declare(c.Proto.Input[1], graph.Weight, scaleConstant(c, t, factor), moves...)
}

// transposeMatrix returns a matrix of floats with its axes exchanged.
func transposeMatrix(t tensor.Tensor) tensor.Tensor {
	rows, columns := t.Shape[0], t.Shape[1]
	out := tensor.New(tensor.F32, columns, rows)
	from, to := t.F32(), out.F32()
	const block = 32 // transposed in blocks, so that rows of both matrices stay in the cache
	for r := 0; r < rows; r += block {
		for k := range columns {
			for i := r; i < min(r+block, rows); i++ {
				to[k*rows+i] = from[i*columns+k]
			}
		}
	}
	return out
}

// declareAddend declares the addend of n outputs. The constant has n numbers, or one for all outputs.
func declareAddend(c *call, n int, factor float32) graph.Value {
	t, ok := c.Constant(2)
	if !ok || factor == 0 {
		return graph.None
	}
	t = c.ToF32(t)
	if last := len(t.Shape) - 1; t.Count() != 1 && (t.Count() != n || t.Shape[last] != n) {
		c.Fail("adds %v to %d outputs", t, n)
	}
	if c.Err != nil {
		return graph.None
	}
	if t.Count() == 1 {
		t = tensor.Of(slices.Repeat(t.F32(), n), n)
	}
	return c.declare(c.Proto.Input[2], graph.Bias, scaleConstant(c, t.Reshape(n), factor))
}

// matMulBias reads a MatMul together with the bias that its only reader adds.
func matMulBias(c *call) []node.Value {
	out := node.Rows(matMul(c))
	out.Added = c.added
	return []node.Value{out}
}

// matMul reads a product of a value and a constant matrix as a dense layer along the last
// axis of the value.
func matMul(c *call) graph.Value {
	if len(c.In) != 2 {
		c.Fail("has %d operands, want 2", len(c.In))
		return graph.None
	}
	if c.In[0].IsConstant() {
		return makeConstantMatMul(c)
	}
	if c.IsDynamic(1) {
		return makeDynamicMatMul(c)
	}
	b, _ := c.Constant(1)
	if !c.checkDequantised(1, b) {
		return graph.None
	}
	for len(b.Shape) > 2 && b.Shape[0] == 1 && len(b.Shape) <= c.Rank(0) {
		b = b.Reshape(b.Shape[1:]...)
	}
	s := c.Shape(0)
	if c.Err == nil && len(b.Shape) > 2 {
		return c.node(graph.MatMul, "", []graph.Value{c.Dynamic(0), c.state(1, graph.Weight,
			c.aligned(b.Shape, c.Rank(0))...)})
	}
	if c.Err == nil && (len(s) == 0 || len(b.Shape) < 1 || s[len(s)-1] != b.Shape[0]) {
		c.Fail("of a value of the shape %v with %v is not supported", s, b)
	}
	if c.Err != nil {
		return graph.None
	}
	matrix := b.Reshape(b.Shape[0], b.Count()/max(b.Shape[0], 1))
	weight := declareMatrix(c, matrix, false, 1)
	if len(b.Shape) == 2 {
		return addDense(c, "", weight, c.biasBehind(b.Shape[1]))
	}
	v := addDense(c, ".column", weight, graph.None)
	return c.node(graph.Reshape, "", []graph.Value{v}, "shape", s[:len(s)-1])
}

// addDense adds a dense layer along the last axis of operand 0, for every position of
// the axes before it.
func addDense(c *call, suffix string, weight, bias graph.Value) graph.Value {
	return c.node(graph.Dense, suffix, []graph.Value{c.Dynamic(0), weight, bias}, "leading", len(c.Shape(0))-1)
}

// addConv1x1 multiplies a weight [out, in] with a value [in, n].
func addConv1x1(c *call, x, weight graph.Value, in, n, out int) graph.Value {
	x = c.node(graph.Reshape, ".image", []graph.Value{x}, "shape", []int{in, 1, n})
	w := c.node(graph.Reshape, ".kernel", []graph.Value{weight}, "shape", []int{out, in, 1, 1})
	x = c.node(graph.Conv, ".conv", []graph.Value{x, w, graph.None})
	return c.node(graph.Reshape, ".matrix", []graph.Value{x}, "shape", []int{out, n})
}

// makeConstantMatMul multiplies a constant matrix by a matrix of values.
func makeConstantMatMul(c *call) graph.Value {
	a, _ := c.Constant(0)
	s := c.Shape(1)
	for len(a.Shape) > 2 && a.Shape[0] == 1 && len(a.Shape) <= c.Rank(1) {
		a = a.Reshape(a.Shape[1:]...)
	}
	if !c.Unbatched && len(s) < 2 {
		c.FailAcrossBatch("of %v with a value of the shape %v multiplies along the batch axis", a, s)
	}
	if c.Err == nil && (len(a.Shape) < 2 || len(s) < 2 || s[len(s)-2] != a.Shape[len(a.Shape)-1]) {
		c.Fail("of %v with a value of the shape %v is not supported", a, s)
	}
	if c.Err != nil {
		return graph.None
	}
	if len(a.Shape) > 2 || tensor.Count(s) != s[len(s)-1]*s[len(s)-2] {
		return c.node(graph.MatMul, "", []graph.Value{c.state(0, graph.Weight, c.aligned(a.Shape, c.Rank(1))...),
			c.Dynamic(1)})
	}
	w := c.declare(c.Proto.Input[0], graph.Weight, c.ToF32(a))
	in, n := s[len(s)-2], s[len(s)-1]
	v := addConv1x1(c, c.Dynamic(1), w, in, n, a.Shape[0])
	shape := append(slices.Clone(s[:len(s)-2]), a.Shape[0], n)
	return c.node(graph.Reshape, "", []graph.Value{v}, "shape", shape)
}
