package qdq

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// target describes the integers that a QuantizeLinear computes.
type target struct {
	scale, zero string // names
	step        float32
	zeroPoint   int64
	kind        tensor.DType
}

// readTarget reads a QuantizeLinear to u8 or i8 with one constant scale.
func (w *rewriter) readTarget(n *onnxpb.NodeProto) (t target, ok bool) {
	if len(n.Input) < 2 || len(n.Output) != 1 {
		return t, false
	}
	for _, a := range n.Attribute {
		if a.Name != "axis" && a.Name != "saturate" { // block_size, output_dtype, precision
			return t, false
		}
	}
	t.scale = n.Input[1]
	if len(n.Input) > 2 {
		t.zero = n.Input[2]
	}
	s, okS := w.scales(t.scale)
	z, kind, okZ := w.zeros(t.zero)
	if !okS || !okZ || len(s) != 1 || len(z) != 1 {
		return t, false
	}
	t.step, t.zeroPoint, t.kind = s[0], z[0], kind
	return t, true
}

// withZero returns t with the name of a zero point, unless it has one. A QuantizeLinear
// without a zero point has a result of u8, but an operator of ONNX Runtime without one has
// a result of its operand's type.
func (w *rewriter) withZero(t target) target {
	if t.zero == "" {
		if w.noZero == "" {
			w.noZero = w.fresh("u8", "zero")
			w.Constants[w.noZero] = tensor.New(tensor.U8)
		}
		t.zero = w.noZero
	}
	return t
}

// quantise replaces a QuantizeLinear and the operator before it by an operator of
// integers. It reports whether it did.
func (w *rewriter) quantise(n *onnxpb.NodeProto) bool {
	t, ok := w.readTarget(n)
	if !ok {
		return false
	}
	w.kinds[n.Output[0]] = t.kind
	v := n.Input[0]
	if s, ok := w.scaled[v]; ok {
		return w.requantise(n, s, t)
	}
	b := bounds{least: math.Inf(-1), most: math.Inf(1)}
	for {
		m := w.made[v]
		if m == nil || w.uses[v] != 1 || len(m.Input) == 0 {
			return false
		}
		replacement, ok := w.group(m, t, b)
		if ok {
			replacement.Name, replacement.Output = m.Name, n.Output
			w.emit(replacement)
			w.Replaced[n.Output[0]] = m
			return true
		}
		if !w.bound(m, &b) {
			return false
		}
		v = m.Input[0]
	}
}

// requantise converts bytes to another scale by a table. It adds no table if the scale is the same.
func (w *rewriter) requantise(n *onnxpb.NodeProto, s scaled, t target) bool {
	if s.constant || !w.isBytes(s) {
		return false
	}
	if w.alike(s, scaled{scale: t.scale, zero: t.zero}) {
		w.emit(&onnxpb.NodeProto{OpType: "Identity", Input: []string{s.bytes}, Output: n.Output})
		return true
	}
	w.emit(activation("Identity", s, w.withZero(t), n.Output))
	w.Replaced[n.Output[0]] = n
	return true
}

// activation returns the operator that computes a function of one feature map by a table.
func activation(function string, s scaled, t target, out []string,
	with ...*onnxpb.AttributeProto) *onnxpb.NodeProto {
	return &onnxpb.NodeProto{OpType: "QLinearActivation", Domain: Domain, Output: out,
		Input:     []string{s.bytes, s.scale, s.zero, t.scale, t.zero},
		Attribute: append(slices.Clone(with), onnxpb.TextAttr("of", function))}
}

// bounds are bounds of floats that are applied before quantisation.
type bounds struct{ least, most float64 }

// bound adds the bounds of a Relu or a Clip to b. It reports whether n is one of these with
// constant bounds.
func (w *rewriter) bound(n *onnxpb.NodeProto, b *bounds) bool {
	least, most, ok := w.clip(n)
	if !ok {
		return false
	}
	// the node that is applied last is read first: its bounds prevail
	b.least, b.most = min(max(least, b.least), b.most), max(min(most, b.most), b.least)
	return true
}

// clip returns the bounds of a Relu or a Clip.
func (w *rewriter) clip(n *onnxpb.NodeProto) (low, high float64, ok bool) {
	low, high = math.Inf(-1), math.Inf(1)
	switch decode.Operator(n) {
	case "Relu":
		return 0, high, true
	case "Clip":
	default:
		return 0, 0, false
	}
	for _, a := range n.Attribute {
		switch a.Name {
		case "min":
			low = float64(a.GetF())
		case "max":
			high = float64(a.GetF())
		}
	}
	for i, to := range []*float64{1: &low, 2: &high} {
		if to == nil || i >= len(n.Input) || n.Input[i] == "" {
			continue
		}
		t, ok := w.file.Value(n.Input[i])
		if !ok || t.DType != tensor.F32 || t.Count() != 1 {
			return 0, 0, false
		}
		*to = float64(t.F32()[0])
	}
	return low, high, low <= high
}

// bytes converts the bounds to integers of t. bounded is false if they are the bounds of the type.
func (b bounds) bytes(t target) (low, high int, bounded bool) {
	from, to := 0, 255
	if t.kind == tensor.I8 {
		from, to = -128, 127
	}
	quantised := func(v float64) int {
		steps := math.RoundToEven(float64(float32(v) / t.step))
		return int(min(max(steps+float64(t.zeroPoint), float64(from)), float64(to)))
	}
	low, high = quantised(b.least), quantised(b.most)
	return low, high, low != from || high != to
}

// limit sets the bounds of an operator of integers. Operators with bounds are in Domain.
func (b bounds) limit(n *onnxpb.NodeProto, t target) *onnxpb.NodeProto {
	if least, most, bounded := b.bytes(t); bounded {
		n.Domain = Domain
		n.Attribute = append(n.Attribute, onnxpb.IntAttr("min", least), onnxpb.IntAttr("max", most))
	}
	return n
}

// unlimited reports whether the bounds are infinite.
func (b bounds) unlimited() bool { return math.IsInf(b.least, -1) && math.IsInf(b.most, 1) }

// given returns the attributes of n with these names. ok is false if n has other attributes.
func given(n *onnxpb.NodeProto, names ...string) (list []*onnxpb.AttributeProto, ok bool) {
	for _, a := range n.Attribute {
		if !slices.Contains(names, a.Name) {
			return nil, false
		}
		list = append(list, a)
	}
	return list, true
}
