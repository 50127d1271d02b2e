package onnx

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// expansion reads the nodes that an operator is short for. The names of their results are the node's own,
// with a number.
type expansion struct {
	*call
	made int
}

// fresh returns a name that nothing has.
func (p *expansion) fresh() string {
	p.made++
	return fmt.Sprintf("%s/%d", decode.First(p.n.Output, "node"), p.made)
}

// to reads a node that makes a name.
func (p *expansion) to(name, op string, in []string, with ...*onnxpb.AttributeProto) string {
	if p.err == nil {
		p.err = p.reader.node(&onnxpb.NodeProto{OpType: op, Input: in, Output: []string{name}, Attribute: with})
	}
	return name
}

func (p *expansion) node(op string, in []string, with ...*onnxpb.AttributeProto) string {
	return p.to(p.fresh(), op, in, with...)
}

// result is the node that makes the node's own result.
func (p *expansion) result(op string, in []string, with ...*onnxpb.AttributeProto) {
	p.to(decode.First(p.n.Output, "node"), op, in, with...)
}

// operandName returns the name of operand i; "" if it has none.
func (p *expansion) operandName(i int) string {
	if !p.has(i) {
		return ""
	}
	return p.n.Input[i]
}

// constant defines a constant.
func (p *expansion) constant(t tensor.Tensor) string {
	name := p.fresh()
	if err := p.reader.define(name, constant(t)); p.err == nil {
		p.err = err
	}
	return name
}

// given returns the attributes of the node that have one of these names.
func (p *expansion) given(names string) (list []*onnxpb.AttributeProto) {
	for _, a := range p.n.Attribute {
		if listed(names, a.Name) {
			list = append(list, a)
		}
	}
	return list
}

// numbers is operand x in f32, by a scale and a zero point.
func (p *expansion) numbers(x, scale, zero int) string {
	return p.node("DequantizeLinear", []string{p.operandName(x), p.operandName(scale), p.operandName(zero)})
}

// wholes is operand x less its zero point, in f32; several zero points are along an axis.
func (p *expansion) wholes(x, zero, axis int) string {
	if p.has(x) && !p.in[x].isConstant() && !p.in[x].integer { // of a range that is measured when it runs
		if !p.has(zero) {
			return p.operandName(x)
		}
		return p.node("Sub", []string{p.operandName(x), p.operandName(zero)})
	}
	one := p.constant(tensor.Scalar(float32(1)))
	if p.has(zero) && p.in[zero].isConstant() && p.in[zero].c.Count() > 1 {
		n := p.in[zero].c.Count()
		one = p.constant(tensor.Of(slices.Repeat([]float32{1}, n), n))
	}
	return p.node("DequantizeLinear", []string{p.operandName(x), one, p.operandName(zero)},
		onnxpb.IntAttr("axis", axis))
}

// quantised makes the result, of a type that a zero point tells, or operand 0.
func (p *expansion) quantised(v string, scale, zero int) {
	with := []*onnxpb.AttributeProto{}
	if !p.has(zero) && p.in[0].kind == tensor.I8 {
		with = append(with, onnxpb.IntAttr("output_dtype", int(onnxpb.TensorProto_INT8)))
	}
	p.result("QuantizeLinear", []string{v, p.operandName(scale), p.operandName(zero)}, with...)
}

// sums makes the result of sums of integers: times the scales, in the order of ONNX Runtime, in steps of the
// result. The scales of outputs have trailing axes of 1.
func (p *expansion) sums(v string, alpha float32, x, w, y, zero, trailing int) {
	of := func(i int) []float32 {
		if !p.has(i) || !p.in[i].isConstant() || p.in[i].c.DType != tensor.F32 {
			p.fail("operand %d is no constant scale", i)
			return []float32{1}
		}
		return p.in[i].c.F32()
	}
	xs, ws, ys := of(x), of(w), []float32{1}
	if p.has(y) {
		ys = of(y)
	}
	if p.err == nil && (len(xs) != 1 || len(ys) != 1) {
		p.fail("with a scale for each row is not supported")
	}
	if p.err != nil {
		return
	}
	by := tensor.New(tensor.F32, append([]int{len(ws)}, slices.Repeat([]int{1}, trailing)...)...)
	for o, s := range ws {
		by.F32()[o] = float32(float32(alpha*xs[0])*s) / ys[0]
	}
	if !p.has(y) {
		p.result("Mul", []string{v, p.constant(by)})
		return
	}
	v = p.node("Mul", []string{v, p.constant(by)})
	p.result("QuantizeLinear", []string{v, p.constant(tensor.Scalar(float32(1))), p.operandName(zero)})
}

const convAttributes = windowAttributes + " group"

func (p *expansion) qLinearConv() {
	in := []string{p.wholes(0, 2, 1), p.wholes(3, 5, 0)}
	if p.has(8) {
		in = append(in, p.node("Cast", []string{p.operandName(8)}, onnxpb.IntAttr("to",
			int(onnxpb.TensorProto_FLOAT))))
	}
	v := p.node("Conv", in, p.given(convAttributes)...)
	p.sums(v, 1, 1, 4, 6, 7, max(len(p.in[3].c.Shape)-2, 0))
}

func (p *expansion) qLinearMatMul() {
	v := p.node("MatMul", []string{p.wholes(0, 2, -2), p.wholes(3, 5, -1)})
	p.sums(v, 1, 1, 4, 6, 7, 0)
}

func (p *expansion) qGemm() {
	axis := 1
	if p.int("transB", 0) != 0 {
		axis = 0
	}
	in := []string{p.wholes(0, 2, 0), p.wholes(3, 5, axis)}
	if p.has(6) {
		in = append(in, p.node("Cast", []string{p.operandName(6)}, onnxpb.IntAttr("to",
			int(onnxpb.TensorProto_FLOAT))))
	}
	v := p.node("Gemm", in, p.given("transA transB")...)
	p.sums(v, float32(p.float("alpha", 1)), 1, 4, 7, 8, 0)
}

// asIntegers notes that the result is integers in the file.
func (p *expansion) asIntegers() {
	if x, ok := p.values[decode.First(p.n.Output, "")]; ok && p.err == nil {
		x.integer, x.kind = true, tensor.I32
		p.values[p.n.Output[0]] = x
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

// qLinearPair is QLinearAdd and QLinearMul.
func (p *expansion) qLinearPair() {
	op := map[string]string{"QLinearAdd": "Add", "QLinearMul": "Mul"}[p.n.OpType]
	p.quantised(p.node(op, []string{p.numbers(0, 1, 2), p.numbers(3, 4, 5)}), 6, 7)
}

func (p *expansion) qLinearConcat() {
	if len(p.in) < 5 || len(p.in)%3 != 2 {
		p.fail("has %d operands, want a scale, a zero point, and three for each map", len(p.in))
		return
	}
	var in []string
	for i := 2; i < len(p.in); i += 3 {
		in = append(in, p.numbers(i, i+1, i+2))
	}
	v := p.node("Concat", in, p.given("axis")...)
	p.result("QuantizeLinear", []string{v, p.operandName(0), p.operandName(1)})
}

func (p *expansion) qLinearAverage() {
	if p.int("channels_last", 0) != 0 {
		p.fail("with channels_last is not supported")
		return
	}
	op := "GlobalAveragePool"
	if p.n.OpType == "QLinearAveragePool" {
		op = "AveragePool"
	}
	with := p.given(windowAttributes + " ceil_mode count_include_pad")
	p.quantised(p.node(op, []string{p.numbers(0, 1, 2)}, with...), 3, 4)
}

func (p *expansion) qLinearActivation() {
	op := map[string]string{"QLinearLeakyRelu": "LeakyRelu", "QLinearSigmoid": "Sigmoid"}[p.n.OpType]
	p.quantised(p.node(op, []string{p.numbers(0, 1, 2)}, p.given("alpha")...), 3, 4)
}

// qLinearSoftmax: up to operator set 12 the axis begins a range; the attribute says by which it counts.
func (p *expansion) qLinearSoftmax() {
	if (p.int("opset", p.opset) < 13) != (p.opset < 13) {
		p.fail("of operator set %d in a file of %d is not supported", p.int("opset", 0), p.opset)
	}
	p.quantised(p.node("Softmax", []string{p.numbers(0, 1, 2)}, p.given("axis")...), 3, 4)
}

// standard is an operator that the standard has, too.
func (p *expansion) standard() { p.result(p.n.OpType, p.n.Input, p.n.Attribute...) }
