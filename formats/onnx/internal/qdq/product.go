package qdq

import (
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// product is a sum of products of a feature map and a constant weight: a convolution or a
// matrix product.
type product struct {
	op     string // operator of integers
	domain string
	x, w   scaled
	bias   string // i32, in steps of the products; "" without a bias
	biasAt int    // number of the bias operand
	attrs  []*onnxpb.AttributeProto
}

// node returns the operator of integers. If t is nil, the result has floats.
func (p *product) node(t *target) *onnxpb.NodeProto {
	n := &onnxpb.NodeProto{OpType: p.op, Domain: p.domain, Attribute: slices.Clone(p.attrs),
		Input: []string{p.x.bytes, p.x.scale, p.x.zero, p.w.bytes, p.w.scale, p.w.zero}}
	var y []string
	if t != nil {
		y = []string{t.scale, t.zero}
	} else {
		n.Domain = Domain
	}
	switch {
	case p.biasAt == 6:
		n.Input = append(append(n.Input, p.bias), y...)
	case p.bias == "":
		n.Input = append(n.Input, y...)
	default:
		if p.op == "QLinearMatMul" { // ONNX's QLinearMatMul has no bias
			n.Domain = Domain
		}
		if t == nil {
			y = []string{"", ""}
		}
		n.Input = append(append(n.Input, y...), p.bias)
	}
	return n
}

// product reads a Conv, a Gemm, a MatMul, or an Add of a MatMul and a constant bias. reason is "" if it
// can be computed in integers.
func (w *rewriter) product(n *onnxpb.NodeProto) (p *product, reason string) {
	m, biasName := n, ""
	op := decode.Operator(n)
	if op == "Add" {
		if m, biasName = w.matMulOf(n); m == nil {
			return nil, "no product"
		}
		op = "MatMul"
	}
	if len(m.Input) < 2 {
		return nil, "too few operands"
	}
	x, ok := w.scaled[m.Input[0]]
	if !ok || x.constant || !w.isBytes(x) {
		if kind := w.typeOf(x); ok && kind != 0 {
			return nil, fmt.Sprintf("its input is quantised to %v, not to bytes", kind)
		}
		return nil, noConstantScale
	}
	s, ok := w.scaled[m.Input[1]]
	if !ok || !s.constant {
		return nil, "its weight is not integers with constant scales"
	}
	p = &product{op: "QLinearMatMul", x: x, w: s, biasAt: 8}
	axis, rank := 1, w.rank(s.bytes)
	switch op {
	case "Conv":
		p.op, axis = "QLinearConv", 0
		if p.attrs, ok = given(m, "auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"); !ok {
			return nil, "it has attributes that QLinearConv lacks"
		}
	case "Gemm":
		p.op, p.domain, p.biasAt = "QGemm", "com.microsoft", 6
		if axis, reason = p.gemm(m); reason != "" {
			return nil, reason
		}
	}
	if op != "Conv" && rank != 2 {
		return nil, fmt.Sprintf("its weight has %d axes", rank)
	}
	if s.channels > 1 && s.axisOf(rank) != axis {
		return nil, fmt.Sprintf("the scales of its weight are along axis %d", s.axisOf(rank))
	}
	if _, _, ok := w.zeros(s.zero); !ok {
		t, _ := w.file.Value(s.bytes)
		return nil, fmt.Sprintf("its weight is %v, not bytes", t.DType)
	}
	if biasName == "" && len(m.Input) > 2 {
		biasName = m.Input[2]
	}
	p.bias, reason = w.bias(biasName, p)
	return p, reason
}

// gemm reads the attributes of a Gemm, and returns the axis of its weight that has the outputs.
func (p *product) gemm(n *onnxpb.NodeProto) (axis int, reason string) {
	axis = 1
	for _, a := range n.Attribute {
		switch {
		case a.Name == "transB" && a.GetI() != 0:
			axis, p.attrs = 0, append(p.attrs, a)
		case a.Name == "transA" && a.GetI() != 0:
			return axis, "it has transA"
		case (a.Name == "alpha" || a.Name == "beta") && a.GetF() != 1:
			return axis, fmt.Sprintf("its %s is %g", a.Name, a.GetF())
		}
	}
	return axis, ""
}

// matMulOf returns the MatMul and the constant if n is the sum of both.
func (w *rewriter) matMulOf(n *onnxpb.NodeProto) (m *onnxpb.NodeProto, bias string) {
	for i, name := range n.Input {
		m := w.made[name]
		if m == nil || decode.Operator(m) != "MatMul" || w.uses[name] != 1 || len(n.Input) != 2 {
			continue
		}
		bias := n.Input[1-i]
		if _, constant := w.file.Value(bias); constant || w.scaled[bias].constant {
			return m, bias
		}
	}
	return nil, ""
}

// axisOf returns the axis that has a scale for each index, of a tensor with the given rank.
func (s scaled) axisOf(rank int) int {
	axis := 1
	if s.axis != nil {
		axis = int(s.axis.GetI())
	}
	if axis < 0 {
		axis += rank
	}
	return axis
}

func (w *rewriter) rank(name string) int {
	t, _ := w.file.Value(name)
	return len(t.Shape)
}

// mostBias is the maximum of a bias, in steps of the products.
const mostBias = 1 << 30

// bias returns the name of a bias as i32 in steps of the products of p. If the file has these integers,
// bias uses them. Otherwise it rounds the bias to the nearest integers.
func (w *rewriter) bias(name string, p *product) (integers, reason string) {
	if name == "" {
		return "", ""
	}
	v, reason := w.numbers(name)
	if reason != "" {
		return "", reason
	}
	xs, _ := w.scales(p.x.scale)
	ws, _ := w.scales(p.w.scale)
	if len(ws) > 1 && len(ws) != len(v) {
		return "", fmt.Sprintf("its bias has %d elements for %d scales", len(v), len(ws))
	}
	t := tensor.New(tensor.I32, len(v))
	for o, b := range v {
		steps := math.RoundToEven(b / (float64(xs[0]) * float64(ws[min(o, len(ws)-1)])))
		if !(math.Abs(steps) <= mostBias) {
			return "", fmt.Sprintf("its bias is %g steps of the products", steps)
		}
		t.I32()[o] = int32(steps)
	}
	integers = w.fresh(name, "steps")
	w.Constants[integers] = t
	return integers, ""
}

// numbers returns the elements of a constant bias, which has floats, or integers with scales.
func (w *rewriter) numbers(name string) (v []float64, reason string) {
	if t, ok := w.file.Value(name); ok {
		if t.DType != tensor.F32 || len(t.Shape) != 1 {
			return nil, "its bias is not a line of f32"
		}
		for _, b := range t.F32() {
			v = append(v, float64(b))
		}
		return v, ""
	}
	s, ok := w.scaled[name]
	t, constant := w.file.Value(s.bytes)
	if !ok || !constant || len(t.Shape) != 1 {
		return nil, "its bias is not constant"
	}
	q, err := element.IntegersOf(t)
	if err != nil {
		return nil, "its bias is not integers"
	}
	zero := []int64{0}
	if z, ok := w.file.Value(s.zero); ok {
		if zero, err = element.IntegersOf(z); err != nil {
			return nil, "the zero point of its bias is not an integer"
		}
	}
	of, _ := w.scales(s.scale)
	if len(of) != 1 && len(of) != len(q) || len(zero) != 1 && len(zero) != len(q) {
		return nil, "the scales of its bias do not fit"
	}
	for i, b := range q {
		v = append(v, float64(b-zero[min(i, len(zero)-1)])*float64(of[min(i, len(of)-1)]))
	}
	return v, ""
}

// products replaces products with float results. It stores reasons for products that stay in floats
// although their input is quantised.
func (w *rewriter) products() {
	all := w.Nodes
	w.Nodes = nil
	for _, n := range all {
		op := decode.Operator(n)
		if op != "Conv" && op != "Gemm" && op != "MatMul" && op != "ConvTranspose" || len(n.Output) != 1 {
			w.emit(n)
			continue
		}
		if s, ok := w.scaled[n.Input[0]]; !ok || s.constant {
			w.emit(n)
			continue
		}
		p, reason := &product{}, "there is no operator of integers for it"
		if op != "ConvTranspose" {
			p, reason = w.product(n)
		}
		if reason != "" {
			w.Reasons[n.Output[0]] = reason
			w.emit(n)
			continue
		}
		m := p.node(nil)
		m.Name, m.Output = n.Name, n.Output
		w.Replaced[n.Output[0]] = n
		w.emit(m)
	}
}
