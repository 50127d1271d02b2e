package onnx

import (
	"fmt"
	"math"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// examination adds findings about the scales and the products of a quantised file.
type examination struct{ *reader }

// examineScales adds findings about the scales of a file in QDQ form: scales that are not positive are
// faults, and biases with scales that are not the product of the scales of input and weight are unusual.
func (r examination) examineScales() {
	made := map[string]*onnxpb.NodeProto{}
	for _, n := range r.src.Node {
		for _, name := range n.Output {
			made[name] = n
		}
		switch op := strings.TrimPrefix(decode.Operator(n), microsoft); op {
		case "QuantizeLinear", "DequantizeLinear":
			r.examineScale(n, made)
		case "Conv", "Gemm":
			r.examineBias(n, made)
		}
	}
}

// scalesAt returns the scales of a QuantizeLinear or DequantizeLinear node, or nil if they
// are not constant.
func (r examination) scalesAt(n *onnxpb.NodeProto) []float32 {
	if n == nil || len(n.Input) < 2 {
		return nil
	}
	x, ok, err := r.operand(n.Input[1])
	if !ok || err != nil || !x.IsConstant() || x.Tensor.DType != tensor.F32 {
		return nil
	}
	return x.Tensor.F32()
}

// examineScale adds a fault for the first scale that is not a positive number.
func (r examination) examineScale(n *onnxpb.NodeProto, made map[string]*onnxpb.NodeProto) {
	for i, s := range r.scalesAt(n) {
		if s > 0 && !math.IsInf(float64(s), 1) {
			continue
		}
		r.file.Findings = append(r.file.Findings, foreign.Finding{Where: nodeName(n), Fault: true,
			Text:   fmt.Sprintf("scale %d of this %s is %g, want a positive number", i, n.OpType, s),
			Advice: "quantise the float model again: ranges of dead maps need a scale too"})
		break
	}
	r.examineZero(n, made)
}

// examineZero adds a fault for a zero point that does not fit the integers of a node.
func (r examination) examineZero(n *onnxpb.NodeProto, made map[string]*onnxpb.NodeProto) {
	if len(n.Input) < 3 {
		return
	}
	zero, ok, err := r.operand(n.Input[2])
	if !ok || err != nil || !zero.IsConstant() {
		return
	}
	fault := func(format string, args ...any) {
		r.file.Findings = append(r.file.Findings, foreign.Finding{Where: nodeName(n), Fault: true,
			Text:   fmt.Sprintf(format, args...),
			Advice: "quantise the float model again: zero points have the type of the integers"})
	}
	of := zero.Tensor.DType
	if kind := r.integersOf(n, made); kind != 0 && kind != of {
		fault("the zero point of this %s is %v, and its integers are %v", n.OpType, of, kind)
		return
	}
	list, err := element.IntegersOf(zero.Tensor)
	if err != nil || of != tensor.I32 {
		return
	}
	for i, z := range list {
		if z != 0 {
			fault("zero point %d of this %s is %d, and i32 has zero points of 0 alone", i, n.OpType, z)
			return
		}
	}
}

// integersOf returns the type of the integers that a DequantizeLinear reads: a constant, or the result of a
// QuantizeLinear. It returns 0 for other nodes, and if the type is not known.
func (r examination) integersOf(n *onnxpb.NodeProto, made map[string]*onnxpb.NodeProto) tensor.DType {
	if !isDequantise(n) {
		return 0
	}
	if x, ok, err := r.operand(n.Input[0]); ok && err == nil && x.IsConstant() {
		return x.Tensor.DType
	}
	m := made[n.Input[0]]
	if m == nil || strings.TrimPrefix(decode.Operator(m), microsoft) != "QuantizeLinear" {
		return 0
	}
	const zero = 2
	if len(m.Input) <= zero {
		return 0
	}
	if x, ok, err := r.operand(m.Input[zero]); ok && err == nil && x.IsConstant() {
		return x.Tensor.DType
	}
	return 0
}

// examineBias adds a warning for a bias that has another scale than the products that it is added to.
func (r examination) examineBias(n *onnxpb.NodeProto, made map[string]*onnxpb.NodeProto) {
	const operands, enough = 3, 1e-4
	if len(n.Input) < operands {
		return
	}
	var of [operands][]float32
	for i := range of {
		m := made[n.Input[i]]
		if m == nil || !strings.HasSuffix(decode.Operator(m), "DequantizeLinear") {
			return
		}
		of[i] = r.scalesAt(m)
	}
	x, w, b := of[0], of[1], of[2]
	if len(x) != 1 || len(w) == 0 {
		return
	}
	for o, s := range b {
		want := float64(float64(x[0]) * float64(w[min(o, len(w)-1)]))
		if !(want > 0) || math.Abs(float64(s)-want) <= enough*want {
			continue
		}
		r.file.Findings = append(r.file.Findings, foreign.Finding{Where: nodeName(n), Warning: true,
			Text: fmt.Sprintf("the scale of its bias is %g for channel %d, and the product of the scales of input "+
				"and weight is %g: the bias is rounded again", s, o, want),
			Advice: "quantise the bias with the product of both scales"})
		return
	}
}
