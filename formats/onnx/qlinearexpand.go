package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		microsoft + "QLinearSoftmax": {attributes: accept(5, "axis opset"),
			refused:   "opset below 13 in a file of 13, and the other way round",
			quantised: &quantisedOp{expand: (*expansion).qLinearSoftmax}},
		microsoft + "QuantizeLinear": {attributes: accept(3, "axis"),
			quantised: &quantisedOp{expand: (*expansion).standard}},
		microsoft + "DequantizeLinear": {attributes: accept(3, "axis"),
			quantised: &quantisedOp{expand: (*expansion).standard}},
	})
}

// fresh returns an unused name.
func (p *expansion) fresh() string {
	p.count++
	return fmt.Sprintf("%s/%d", decode.First(p.Proto.Output, "node"), p.count)
}

// nodeNamed reads a node. Its result gets the given name.
func (p *expansion) nodeNamed(name, op string, operands []string, attrs ...*onnxpb.AttributeProto) string {
	if p.Err == nil {
		p.Err = p.reader.node(&onnxpb.NodeProto{OpType: op, Input: operands, Output: []string{name},
			Attribute: attrs})
	}
	return name
}

func (p *expansion) node(op string, operands []string, attrs ...*onnxpb.AttributeProto) string {
	return p.nodeNamed(p.fresh(), op, operands, attrs...)
}

// result reads the node that computes the result of the original node.
func (p *expansion) result(op string, operands []string, attrs ...*onnxpb.AttributeProto) {
	p.nodeNamed(decode.First(p.Proto.Output, "node"), op, operands, attrs...)
}

// operandName returns the name of operand i; "" if it is absent.
func (p *expansion) operandName(i int) string {
	if !p.Has(i) {
		return ""
	}
	return p.Proto.Input[i]
}

// constant defines a constant.
func (p *expansion) constant(t tensor.Tensor) string {
	name := p.fresh()
	if err := p.reader.define(name, node.Constant(t)); p.Err == nil {
		p.Err = err
	}
	return name
}

// given returns the attributes of the node with the given names.
func (p *expansion) given(names string) (list []*onnxpb.AttributeProto) {
	for _, a := range p.Proto.Attribute {
		if node.Listed(names, a.Name) {
			list = append(list, a)
		}
	}
	return list
}

// numbers dequantises operand x to f32, with a scale and a zero point.
func (p *expansion) numbers(x, scale, zero int) string {
	return p.node("DequantizeLinear", []string{p.operandName(x), p.operandName(scale), p.operandName(zero)})
}

// wholes returns operand x minus its zero point, in f32. If there are several zero points, there is one
// for each index of an axis.
func (p *expansion) wholes(x, zero, axis int) string {
	// the range of the operand is measured in each run
	if p.Has(x) && !p.In[x].IsConstant() && !p.In[x].HoldsIntegers() {
		if !p.Has(zero) {
			return p.operandName(x)
		}
		return p.node("Sub", []string{p.operandName(x), p.operandName(zero)})
	}
	one := p.constant(tensor.Scalar(float32(1)))
	if p.Has(zero) && p.In[zero].IsConstant() && p.In[zero].Tensor.Count() > 1 {
		n := p.In[zero].Tensor.Count()
		one = p.constant(tensor.Of(slices.Repeat([]float32{1}, n), n))
	}
	return p.node("DequantizeLinear", []string{p.operandName(x), one, p.operandName(zero)},
		onnxpb.IntAttr("axis", axis))
}

// quantised quantises v to the result. The result has the type of the zero point, or else the
// type of operand 0.
func (p *expansion) quantised(v string, scale, zero int) {
	with := []*onnxpb.AttributeProto{}
	if !p.Has(zero) && p.In[0].Kind == tensor.I8 {
		with = append(with, onnxpb.IntAttr("output_dtype", int(onnxpb.TensorProto_INT8)))
	}
	p.result("QuantizeLinear", []string{v, p.operandName(scale), p.operandName(zero)}, with...)
}

// sums computes the result from sums of integers. It multiplies them by the scales, in the order of
// ONNX Runtime, and quantises the product. The scales of outputs have trailing axes of length 1.
func (p *expansion) sums(v string, alpha float32, x, w, y, zero, trailing int) {
	of := func(i int) []float32 {
		if !p.Has(i) || !p.In[i].IsConstant() || p.In[i].Tensor.DType != tensor.F32 {
			p.Fail("operand %d is no constant scale", i)
			return []float32{1}
		}
		return p.In[i].Tensor.F32()
	}
	xs, ws, ys := of(x), of(w), []float32{1}
	if p.Has(y) {
		ys = of(y)
	}
	if p.Err == nil && (len(xs) != 1 || len(ys) != 1) {
		p.Fail("with a scale for each row is not supported")
	}
	if p.Err != nil {
		return
	}
	bias := 8
	if p.Proto.OpType == "QLinearMatMul" && p.Has(bias) {
		v = p.node("Add", []string{v, p.asFloats(bias)})
	}
	by := tensor.New(tensor.F32, append([]int{len(ws)}, slices.Repeat([]int{1}, trailing)...)...)
	for o, s := range ws {
		by.F32()[o] = float32(float32(alpha*xs[0])*s) / ys[0]
	}
	if !p.Has(y) {
		p.result("Mul", []string{v, p.constant(by)})
		return
	}
	v = p.limited(p.node("Mul", []string{v, p.constant(by)}), 1, zero)
	p.result("QuantizeLinear", []string{v, p.constant(tensor.Scalar(float32(1))), p.operandName(zero)})
}

// clipOperandsSince is the first operator set in which the bounds of a Clip are operands.
const clipOperandsSince = 11

const convAttributes = windowAttributes + " group"

func (p *expansion) qLinearConv() {
	operands := []string{p.wholes(0, 2, 1), p.wholes(3, 5, 0)}
	if p.Has(8) {
		operands = append(operands, p.asFloats(8))
	}
	v := p.node("Conv", operands, p.given(convAttributes)...)
	p.sums(v, 1, 1, 4, 6, 7, max(len(p.In[3].Tensor.Shape)-2, 0))
}

func (p *expansion) qLinearMatMul() {
	v := p.node("MatMul", []string{p.wholes(0, 2, -2), p.wholes(3, 5, -1)})
	p.sums(v, 1, 1, 4, 6, 7, 0)
}

func (p *expansion) qGemm() {
	axis := 1
	if p.Int("transB", 0) != 0 {
		axis = 0
	}
	operands := []string{p.wholes(0, 2, 0), p.wholes(3, 5, axis)}
	if p.Has(6) {
		operands = append(operands, p.asFloats(6))
	}
	v := p.node("Gemm", operands, p.given("transA transB")...)
	p.sums(v, float32(p.Float("alpha", 1)), 1, 4, 7, 8, 0)
}

// asFloats converts operand i from integers to floats.
func (p *expansion) asFloats(i int) string {
	return p.node("Cast", []string{p.operandName(i)}, onnxpb.IntAttr("to", int(onnxpb.TensorProto_FLOAT)))
}

// asIntegers records that the result is integers in the file.
func (p *expansion) asIntegers() {
	if x, ok := p.values[decode.First(p.Proto.Output, "")]; ok && p.Err == nil {
		x.SetIntegers()
		x.Kind = tensor.I32
		p.values[p.Proto.Output[0]] = x
	}
}

func (p *expansion) convInteger() {
	p.result("Conv", []string{p.wholes(0, 2, 1), p.wholes(1, 3, 0)}, p.given(convAttributes)...)
	p.asIntegers()
}

func (p *expansion) matMulInteger() {
	p.result("MatMul", []string{p.wholes(0, 2, -2), p.wholes(1, 3, -1)})
	p.asIntegers()
}

// qLinearPair reads QLinearAdd and QLinearMul.
func (p *expansion) qLinearPair() {
	op := map[string]string{"QLinearAdd": "Add", "QLinearMul": "Mul"}[p.Proto.OpType]
	v := p.node(op, []string{p.numbers(0, 1, 2), p.numbers(3, 4, 5)})
	if y, ok := readFactors(p.call, 6, 1); ok {
		v = p.limited(v, y[0], 7)
	}
	p.quantised(v, 6, 7)
}

func (p *expansion) qLinearConcat() {
	if len(p.In) < 5 || len(p.In)%3 != 2 {
		p.Fail("has %d operands, want a scale, a zero point, and three for each map", len(p.In))
		return
	}
	var operands []string
	for i := 2; i < len(p.In); i += 3 {
		operands = append(operands, p.numbers(i, i+1, i+2))
	}
	v := p.node("Concat", operands, p.given("axis")...)
	p.result("QuantizeLinear", []string{v, p.operandName(0), p.operandName(1)})
}

func (p *expansion) qLinearAverage() {
	if p.Int("channels_last", 0) != 0 {
		p.Fail("with channels_last is not supported")
		return
	}
	op := "GlobalAveragePool"
	if p.Proto.OpType == "QLinearAveragePool" {
		op = "AveragePool"
	}
	with := p.given(windowAttributes + " ceil_mode count_include_pad")
	p.quantised(p.node(op, []string{p.numbers(0, 1, 2)}, with...), 3, 4)
}

func (p *expansion) qLinearActivation() {
	x := p.numbers(0, 1, 2)
	switch op := functionOf(p.call); {
	case op == "Silu":
		p.quantised(p.node("Mul", []string{x, p.node("Sigmoid", []string{x})}), 3, 4)
	case op == "Clip" && p.Opset >= clipOperandsSince:
		least := p.constant(tensor.Scalar(float32(p.Float("min", -math.MaxFloat32))))
		most := p.constant(tensor.Scalar(float32(p.Float("max", math.MaxFloat32))))
		p.quantised(p.node(op, []string{x, least, most}), 3, 4)
	default:
		p.quantised(p.node(op, []string{x}, p.given("alpha beta min max")...), 3, 4)
	}
}

// qLinearSoftmax reads a softmax of bytes. The attribute opset defines the meaning of axis: one axis
// or, up to operator set 12, the first of several axes that count as one.
func (p *expansion) qLinearSoftmax() {
	if (p.Int("opset", p.Opset) < 13) != (p.Opset < 13) {
		p.Fail("of operator set %d in a file of %d is not supported", p.Int("opset", 0), p.Opset)
	}
	p.quantised(p.node("Softmax", []string{p.numbers(0, 1, 2)}, p.given("axis")...), 3, 4)
}

// standard replaces the operator by the standard operator of the same name.
func (p *expansion) standard() { p.result(p.Proto.OpType, p.Proto.Input, p.Proto.Attribute...) }
