package onnx

import "github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"

func init() {
	register(operators{
		microsoft + "QLinearReduceMean": {attributes: accept(5, "axes keepdims"),
			quantised: &quantisedOp{bytes: meanBytes, expand: (*expansion).qLinearMean}},
		microsoft + "QLinearWhere": {attributes: accept(9, ""),
			quantised: &quantisedOp{expand: (*expansion).qLinearWhere}},
		microsoft + "MatMulIntegerToFloat": {attributes: accept(7, ""),
			quantised: &quantisedOp{expand: (*expansion).matMulToFloat, weights: []int{1}}},
		microsoft + "DynamicQuantizeMatMul": {attributes: accept(5, ""),
			quantised: &quantisedOp{expand: (*expansion).dynamicMatMul, weights: []int{1}}},
	})
}

func (p *expansion) qLinearMean() {
	p.quantised(p.node("ReduceMean", []string{p.numbers(0, 1, 2)}, p.given("axes keepdims")...), 3, 4)
}

func (p *expansion) qLinearWhere() {
	v := p.node("Where", []string{p.operandName(0), p.numbers(1, 2, 3), p.numbers(4, 5, 6)})
	p.result("QuantizeLinear", []string{v, p.operandName(7), p.operandName(8)})
}

// matMulToFloat reads a product of integers that is multiplied by both scales. A bias of
// floats is added.
func (p *expansion) matMulToFloat() {
	p.scaledProduct(p.operandName(0), p.operandName(2), p.operandName(4), 1, 3, 5, 6)
}

// dynamicMatMul reads a product of a value in floats and a constant matrix of integers.
// Each row is quantised by its range.
func (p *expansion) dynamicMatMul() {
	n := &onnxpb.NodeProto{OpType: "DynamicQuantizeLinear", Input: []string{p.operandName(0)},
		Output: []string{p.fresh(), p.fresh(), p.fresh()}}
	if p.Err == nil {
		p.Err = p.reader.node(n)
	}
	p.scaledProduct(n.Output[0], n.Output[1], n.Output[2], 1, 2, 3, 4)
}

// scaledProduct adds the nodes of a matrix product of bytes. The left operand is x, with its scale and
// zero point. The right one is operand w, with scale ws and zero point wz. Operand bias is added. The
// scales are multiplied first, as in ONNX Runtime.
func (p *expansion) scaledProduct(x, scale, zero string, w, ws, wz, bias int) {
	v := p.node("MatMulInteger", []string{x, p.operandName(w), zero, p.operandName(wz)})
	v = p.node("Cast", []string{v}, onnxpb.IntAttr("to", int(onnxpb.TensorProto_FLOAT)))
	operands := []string{v, p.node("Mul", []string{scale, p.operandName(ws)})}
	if p.Has(bias) {
		operands = []string{p.node("Mul", operands), p.operandName(bias)}
		p.result("Add", operands)
		return
	}
	p.result("Mul", operands)
}
