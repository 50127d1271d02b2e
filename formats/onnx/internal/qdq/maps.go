package qdq

import (
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// group returns the operator of integers that computes n with bounds. It sets no name for the result.
// ok is false if n has no counterpart.
func (w *rewriter) group(n *onnxpb.NodeProto, t target, b bounds) (m *onnxpb.NodeProto, ok bool) {
	t = w.withZero(t)
	switch op := decode.Operator(n); op {
	case "Conv", "Gemm", "MatMul", "Add":
		p, reason := w.product(n)
		if reason == "" {
			m := p.node(&t)
			return b.limit(m, t), true
		}
		if op != "Add" {
			return nil, false
		}
		return w.pair(n, "QLinearAdd", t, b)
	case "Mul":
		if s, ok := w.silu(n); ok && b.unlimited() {
			return activation("Silu", s, t, nil), true
		}
		return w.pair(n, "QLinearMul", t, b)
	case "Concat":
		return w.concat(n, t, b)
	case "AveragePool", "GlobalAveragePool", "ReduceMean":
		return w.average(n, t, b)
	}
	return w.function(n, t, b)
}

// mapOf returns operand i of n as bytes with their scale.
func (w *rewriter) mapOf(n *onnxpb.NodeProto, i int) (s scaled, ok bool) {
	if i >= len(n.Input) {
		return s, false
	}
	s, ok = w.scaled[n.Input[i]]
	return s, ok && !s.constant && w.isBytes(s)
}

// pair rewrites an Add or a Mul of two feature maps.
func (w *rewriter) pair(n *onnxpb.NodeProto, op string, t target, b bounds) (*onnxpb.NodeProto, bool) {
	x, okX := w.mapOf(n, 0)
	y, okY := w.mapOf(n, 1)
	if !okX || !okY || len(n.Attribute) > 0 {
		return nil, false
	}
	in := []string{x.bytes, x.scale, x.zero, y.bytes, y.scale, y.zero, t.scale, t.zero}
	m := &onnxpb.NodeProto{OpType: op, Domain: "com.microsoft", Input: in}
	if joint, ok := strings.CutPrefix(n.DocString, onnxpb.JointText); ok {
		m.Domain, m.Attribute = Domain, []*onnxpb.AttributeProto{onnxpb.TextAttr("joint", joint)}
	}
	return b.limit(m, t), true
}

// silu returns the feature map x if n is the product of x and Sigmoid(x).
func (w *rewriter) silu(n *onnxpb.NodeProto) (s scaled, ok bool) {
	for i, name := range n.Input {
		m := w.made[name]
		if m != nil && decode.Operator(m) == "Sigmoid" && len(n.Input) == 2 && m.Input[0] == n.Input[1-i] {
			return w.mapOf(n, 1-i)
		}
	}
	return s, false
}

// concat rewrites a Concat of feature maps with different scales.
func (w *rewriter) concat(n *onnxpb.NodeProto, t target, b bounds) (*onnxpb.NodeProto, bool) {
	with, ok := given(n, "axis")
	if !ok || !b.unlimited() {
		return nil, false
	}
	in := []string{t.scale, t.zero}
	for i := range n.Input {
		s, ok := w.mapOf(n, i)
		if !ok {
			return nil, false
		}
		in = append(in, s.bytes, s.scale, s.zero)
	}
	return &onnxpb.NodeProto{OpType: "QLinearConcat", Domain: "com.microsoft", Input: in, Attribute: with}, true
}

// average rewrites an average pool, a global average pool or a ReduceMean.
func (w *rewriter) average(n *onnxpb.NodeProto, t target, b bounds) (*onnxpb.NodeProto, bool) {
	names := map[string][]string{"GlobalAveragePool": nil, "ReduceMean": {"axes", "keepdims"},
		"AveragePool": {"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"}}
	with, ok := given(n, names[n.OpType]...)
	s, okS := w.mapOf(n, 0)
	if !ok || !okS || !b.unlimited() {
		return nil, false
	}
	if len(n.Input) > 1 { // the axes, since operator set 18
		axes, ok := w.file.Value(n.Input[1])
		if !ok || n.OpType != "ReduceMean" || axes.DType != tensor.I64 {
			return nil, false
		}
		list, err := element.IntegersOf(axes)
		if err != nil {
			return nil, false
		}
		a := &onnxpb.AttributeProto{Name: "axes", Type: onnxpb.AttributeProto_INTS, Ints: list}
		with = append(slices.Clone(with), a)
	}
	return &onnxpb.NodeProto{OpType: "QLinear" + n.OpType, Domain: "com.microsoft", Attribute: with,
		Input: []string{s.bytes, s.scale, s.zero, t.scale, t.zero}}, true
}

// functions has the operators that a table of 256 bytes can compute, with their attributes.
var functions = map[string][]string{"Relu": {}, "Sigmoid": {}, "Tanh": {}, "HardSwish": {}, "Softplus": {},
	"LeakyRelu": {"alpha"}, "Elu": {"alpha"}, "HardSigmoid": {"alpha", "beta"}}

// function rewrites a function of each byte of a feature map.
func (w *rewriter) function(n *onnxpb.NodeProto, t target, b bounds) (*onnxpb.NodeProto, bool) {
	s, ok := w.mapOf(n, 0)
	if !ok || !b.unlimited() {
		return nil, false
	}
	op := decode.Operator(n)
	if names, ok := functions[op]; ok {
		with, ok := given(n, names...)
		return activation(op, s, t, nil, with...), ok && len(n.Input) == 1
	}
	if least, most, ok := w.clip(n); ok && op == "Clip" {
		return activation(op, s, t, nil, onnxpb.FloatAttr("min", least), onnxpb.FloatAttr("max", most)), true
	}
	return nil, false
}
