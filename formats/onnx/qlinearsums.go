package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"QLinearConv": {attributes: accept(9, windowAttributes+" group"),
			quantised: &quantisedOp{bytes: convBytes, expand: (*expansion).qLinearConv, weights: []int{3, 8}}},
		"QLinearMatMul": {attributes: accept(8, ""), refused: "a scale for each row",
			quantised: &quantisedOp{bytes: matMulBytes, expand: (*expansion).qLinearMatMul, weights: []int{3}}},
		"ConvInteger": {attributes: accept(4, windowAttributes+" group"),
			quantised: &quantisedOp{bytes: convBytes, expand: (*expansion).convInteger, weights: []int{1}}},
		"MatMulInteger": {attributes: accept(4, ""),
			quantised: &quantisedOp{bytes: matMulBytes, expand: (*expansion).matMulInteger, weights: []int{1}}},
		microsoft + "QGemm": {attributes: accept(9, "alpha transA transB"),
			quantised: &quantisedOp{bytes: gemmBytes, expand: (*expansion).qGemm, weights: []int{3, 6}}},
	})
}

// byteSum is a sum of products of bytes: its operands, and the scale of its result if the
// result is bytes.
type byteSum struct {
	x, y     byteScale
	float    bool          // the result is f32: the sum times factor
	integer  bool          // the result is an integer in the file
	weight   tensor.Tensor // i8
	copies   int           // number of adjacent terms that add up to the weight
	bias     tensor.Tensor // i32
	factor   tensor.Tensor // f32
	operands [2]int        // indices of the operands with weight and bias; 0 if there is no bias
}

// readByteSum reads the operands of a sum, given their indices. columns means that the outputs are the
// last axis of the weight. ok is false if the graph has no sum that computes the same result.
func readByteSum(c *call, x, w, y [3]int, bias int, columns bool, alpha float32) (s byteSum, ok bool) {
	s = byteSum{operands: [2]int{w[0], bias}, float: y == [3]int{}}
	if c.Has(x[1]) {
		if s.x, ok = readByteScale(c, x[1], x[2], tensor.U8); !ok {
			return s, false
		}
	} else if s.x, ok = readIntegerScale(c, x[0], x[2]); !ok {
		return s, false
	}
	if !s.float && c.Has(y[1]) {
		if s.y, ok = readByteScale(c, y[1], y[2], tensor.U8); !ok {
			return s, false
		}
	} else {
		s.float, s.y.factor = true, 1
	}
	if !canBeBytes(c, x[0], s.x.kind) || !readWeight(c, &s, w, columns) || !readBias(c, &s, bias) {
		return s, false
	}
	outputs := s.weight.Shape[0]
	of := slices.Repeat([]float32{1}, outputs)
	if w[1] > 0 {
		if of, ok = readFactors(c, w[1], outputs); !ok {
			return s, false
		}
	}
	s.factor = tensor.New(tensor.F32, outputs)
	for o := range outputs { // in the order and with the roundings of ONNX Runtime
		by := float32(float32(alpha*s.x.factor) * of[o])
		if !s.float {
			by /= s.y.factor
		}
		s.factor.F32()[o] = by
		ok = isFactor(by)
		if !ok {
			return s, false
		}
	}
	return s, true
}

// readIntegerScale reads an operand without a scale: the file applies it later, or
// never.
func readIntegerScale(c *call, x, zero int) (s byteScale, ok bool) {
	s = byteScale{factor: 1, kind: findKind(c, x)}
	if c.Has(zero) {
		at, err := element.IntegersOf(c.In[zero].Tensor)
		if !c.In[zero].IsConstant() || err != nil || len(at) != 1 {
			return s, false
		}
		s.zero, s.kind = int(at[0]), c.In[zero].Tensor.DType
	}
	more, ok := shift[s.kind]
	s.zero += more
	return s, ok
}

// readWeight reads a weight, with its outputs first, and subtracts its
// zero point.
func readWeight(c *call, s *byteSum, operands [3]int, columns bool) bool {
	x := c.In[operands[0]]
	if !x.IsConstant() || shift[x.Tensor.DType] == 0 && x.Tensor.DType != tensor.U8 || len(x.Tensor.Shape) < 2 ||
		columns && len(x.Tensor.Shape) != 2 {
		return false
	}
	shape := slices.Clone(x.Tensor.Shape)
	if columns {
		slices.Reverse(shape)
	}
	outputs, each := shape[0], tensor.Count(shape[1:])
	zero, ok := readZeros(c, operands[2], outputs)
	from, err := element.Integers(x.Tensor)
	if !ok || err != nil || each < 1 {
		return false
	}
	value := func(o, k int) int64 {
		i := o*each + k
		if columns {
			i = k*outputs + o
		}
		return from(i) - zero[o]
	}
	s.copies = countTerms(outputs, each, value)
	shape[1] *= s.copies
	if each*s.copies > graph.MostTerms || !c.Reserve(tensor.I8, shape) {
		return false
	}
	s.weight = tensor.New(tensor.I8, shape...)
	splitWeight(tensor.View[int8](s.weight), outputs, each, s.copies, value)
	return true
}

// readZeros returns the zero point of each output of a weight. They are 0 if operand i is absent.
func readZeros(c *call, i, outputs int) ([]int64, bool) {
	if !c.Has(i) {
		return make([]int64, outputs), true
	}
	zero, err := element.IntegersOf(c.In[i].Tensor)
	if !c.In[i].IsConstant() || err != nil {
		return nil, false
	}
	if len(zero) == 1 {
		zero = slices.Repeat(zero, outputs)
	}
	return zero, len(zero) == outputs
}

// readBias reads a bias of integers. Without a bias it is 0.
func readBias(c *call, s *byteSum, operand int) bool {
	outputs := s.weight.Shape[0]
	s.bias = tensor.New(tensor.I32, outputs)
	if operand == 0 || !c.Has(operand) {
		return true
	}
	x := c.In[operand]
	if !x.IsConstant() || x.Tensor.DType != tensor.I32 || x.Tensor.Count() != outputs ||
		x.Tensor.Shape[len(x.Tensor.Shape)-1] != outputs {
		return false
	}
	for o, b := range x.Tensor.I32() {
		if b < -graph.MostBias || b > graph.MostBias {
			return false
		}
		s.bias.I32()[o] = b
	}
	return true
}

// add adds the sum of products of x, which has bytes, with a weight of the
// given shape.
func (s *byteSum) add(c *call, op graph.Op, x graph.Value, shape []int, window ...any) graph.Value {
	bias := c.name + ".bias"
	if s.operands[1] > 0 && c.Has(s.operands[1]) {
		bias = c.Proto.Input[s.operands[1]]
	}
	in := []graph.Value{x, c.declare(c.Proto.Input[s.operands[0]], graph.Weight, s.weight.Reshape(shape...)),
		c.declare(bias, graph.Bias, s.bias), c.declare(c.name+".by", graph.Constant, s.factor)}
	attrs := append(window, "x_zero", s.x.zero)
	if s.float {
		attrs = append(attrs, "float", true)
	} else {
		attrs = append(append(attrs, "zero", s.y.zero), byteBounds(c, s.y.kind)...)
	}
	return c.node(op, "", in, attrs...)
}

// value returns the result of the sum as a value of the reader.
func (s *byteSum) value(v graph.Value) node.Value {
	if s.float {
		out := node.Rows(v)
		if s.integer {
			out.Elements, out.Kind = node.Integers, tensor.I32
		}
		return out
	}
	return bytesOf(v, s.y.kind)
}

// convBytes reads QLinearConv and ConvInteger.
func convBytes(c *call) (node.Value, bool) {
	var s byteSum
	var ok bool
	if c.Proto.OpType == "ConvInteger" {
		s, ok = readByteSum(c, [3]int{0, many, 2}, [3]int{1, 0, 3}, [3]int{}, 0, false, 1)
		s.integer = true
	} else {
		s, ok = readByteSum(c, [3]int{0, 1, 2}, [3]int{3, 4, 5}, [3]int{-1, 6, 7}, 8, false, 1)
	}
	shape := c.In[0].V
	if !ok || shape == graph.None {
		return node.Value{}, false
	}
	size, k := c.g.Type(shape).Shape, s.weight.Shape
	if axes := len(k) - 2; axes < 1 || axes > 2 || len(size) != axes+1 {
		return node.Value{}, false
	}
	w := c.window(k[2:], size[1:]).image()
	if len(k) == 3 {
		k = []int{k[0], k[1], 1, k[2]}
	}
	groups := c.Int("group", 1)
	x := s.repeat(c, c.toImage(toBytes(c, 0, s.x.kind), size), groups)
	v := s.add(c, graph.ConvInt8, x, k, "stride", w.stride, "pad", w.pads(), "dilation", w.dilation,
		"groups", groups)
	return s.value(c.fromImage(v, len(size)-1)), true
}

// many is the index of an operand that no node has.
const many = node.ManyOperands

// matMulBytes reads QLinearMatMul and MatMulInteger with a constant matrix.
func matMulBytes(c *call) (node.Value, bool) {
	var s byteSum
	var ok bool
	if c.Proto.OpType == "MatMulInteger" {
		s, ok = readByteSum(c, [3]int{0, many, 2}, [3]int{1, 0, 3}, [3]int{}, 0, true, 1)
		s.integer = true
	} else {
		s, ok = readByteSum(c, [3]int{0, 1, 2}, [3]int{3, 4, 5}, [3]int{-1, 6, 7}, 8, true, 1)
	}
	if !ok {
		return node.Value{}, false
	}
	return s.dense(c)
}

// gemmBytes reads QGemm of a value and a constant matrix.
func gemmBytes(c *call) (node.Value, bool) {
	alpha := float32(c.Float("alpha", 1))
	if c.Int("transA", 0) != 0 || !isFactor(alpha) || c.Err != nil {
		return node.Value{}, false
	}
	s, ok := readByteSum(c, [3]int{0, 1, 2}, [3]int{3, 4, 5}, [3]int{-1, 7, 8}, 6, c.Int("transB", 0) == 0,
		alpha)
	if !ok || len(s.weight.Shape) != 2 {
		return node.Value{}, false
	}
	return s.dense(c)
}

// dense adds a product along the last axis of a value. If there are axes before it, the product is
// a 1x1 convolution over their positions.
func (s *byteSum) dense(c *call) (node.Value, bool) {
	size, out, terms := c.g.Type(c.In[0].V).Shape, s.weight.Shape[0], s.weight.Shape[1]
	if len(size) < 1 || len(size) > 2 || size[len(size)-1]*s.copies != terms {
		return node.Value{}, false
	}
	x := toBytes(c, 0, s.x.kind)
	if len(size) == 1 {
		return s.value(s.add(c, graph.DenseInt8, s.repeat(c, x, 1), s.weight.Shape)), true
	}
	turned := func(v graph.Value, suffix string) graph.Value {
		return c.node(graph.Transpose, suffix, []graph.Value{v}, "perm", []int{1, 0})
	}
	image := []int{size[1], 1, size[0]}
	x = c.node(graph.Reshape, ".image", []graph.Value{turned(x, ".turned")}, "shape", image)
	v := s.add(c, graph.ConvInt8, s.repeat(c, x, 1), []int{out, terms, 1, 1})
	v = c.node(graph.Reshape, ".matrix", []graph.Value{v}, "shape", []int{out, size[0]})
	return s.value(turned(v, ".back")), true
}
