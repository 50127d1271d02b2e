package qdq

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// readScaled reads a DequantizeLinear with constant scales.
func (w *rewriter) readScaled(n *onnxpb.NodeProto) (s scaled, ok bool) {
	if len(n.Input) < 2 || len(n.Output) != 1 {
		return s, false
	}
	s = scaled{bytes: w.uncast(n.Input[0]), scale: n.Input[1]}
	if len(n.Input) > 2 {
		s.zero = n.Input[2]
	}
	for _, a := range n.Attribute {
		switch a.Name {
		case "axis":
			s.axis = a
		default: // block_size, output_dtype
			return s, false
		}
	}
	var t tensor.Tensor
	t, s.constant = w.file.Value(s.bytes)
	scales, ok := w.scales(s.scale)
	s.channels = len(scales)
	zero, constant := w.file.Value(s.zero)
	if s.zero != "" && !constant || constant && s.constant && zero.DType != t.DType {
		return s, false // the reader refuses two types with a better message
	}
	return s, ok
}

// uncast returns the name that bytes have before Casts to the type that they already have.
func (w *rewriter) uncast(name string) string {
	for n := w.made[name]; n != nil && decode.Operator(n) == "Cast" && len(n.Input) == 1; n = w.made[name] {
		kind, known := w.kinds[n.Input[0]]
		if !known || !castsTo(n, kind) {
			break
		}
		name = n.Input[0]
	}
	return name
}

// keepKind stores the type of the bytes that n moves, or casts to the type that they already have.
func (w *rewriter) keepKind(n *onnxpb.NodeProto) {
	if len(n.Input) == 0 {
		return
	}
	kind, known := w.kinds[n.Input[0]]
	if op := decode.Operator(n); known && (w.file.Moves(n) || op == "Cast" && castsTo(n, kind)) {
		for _, name := range n.Output {
			w.kinds[name] = kind
		}
	}
}

// castsTo reports whether a Cast converts to the given type.
func castsTo(n *onnxpb.NodeProto, kind tensor.DType) bool {
	a := n.Attribute
	return len(a) == 1 && a[0].Name == "to" && a[0].GetI() == int64(onnxpb.Number(kind))
}

// scales returns the elements of a constant scale. ok is false unless all are positive and not
// subnormal; the reader refuses others.
func (w *rewriter) scales(name string) ([]float32, bool) {
	t, ok := w.file.Value(name)
	if !ok || t.DType != tensor.F32 || t.Count() < 1 {
		return nil, false
	}
	for _, v := range t.F32() {
		if !(v >= 0x1p-126 && v <= math.MaxFloat32) {
			return nil, false
		}
	}
	return t.F32(), true
}

// zeros returns the elements of a zero point and their type. Without a zero point it
// returns a single 0 of u8.
func (w *rewriter) zeros(name string) ([]int64, tensor.DType, bool) {
	if name == "" {
		return []int64{0}, tensor.U8, true
	}
	t, ok := w.file.Value(name)
	if !ok || t.DType != tensor.U8 && t.DType != tensor.I8 {
		return nil, 0, false
	}
	z, err := element.IntegersOf(t)
	return z, t.DType, err == nil && len(z) > 0
}

// isBytes reports whether integers are u8 or i8 with one scale, as feature maps are. If there is a
// zero point, its type must be the type of the integers. Otherwise their type must be known.
func (w *rewriter) isBytes(s scaled) bool {
	_, kind, ok := w.zeros(s.zero)
	made, known := w.kinds[s.bytes]
	return ok && s.channels == 1 && (kind == made || !known && s.zero != "")
}

// alike reports whether two feature maps of bytes have the same scale, zero point and type.
func (w *rewriter) alike(a, b scaled) bool {
	x, okX := w.scales(a.scale)
	y, okY := w.scales(b.scale)
	p, kindP, okP := w.zeros(a.zero)
	q, kindQ, okQ := w.zeros(b.zero)
	return okX && okY && okP && okQ && kindP == kindQ && slices.Equal(x, y) && slices.Equal(p, q)
}

// movesScaled reports whether n moves elements that are dequantised bytes.
func (w *rewriter) movesScaled(n *onnxpb.NodeProto) bool {
	if len(n.Input) == 0 || len(n.Output) == 0 {
		return false
	}
	s, ok := w.scaled[n.Input[0]]
	if !ok || s.constant || !w.isBytes(s) {
		return false
	}
	if n.OpType == "Concat" && n.Domain == "" {
		return !slices.ContainsFunc(n.Input, func(name string) bool {
			other, ok := w.scaled[name]
			return !ok || other.constant || !w.alike(s, other)
		})
	}
	return w.file.Moves(n) && (n.OpType != "Pad" || w.padsByZero(n))
}

// padsByZero reports whether all elements that a Pad adds are zeros.
func (w *rewriter) padsByZero(n *onnxpb.NodeProto) bool {
	if len(n.Input) < 2 {
		return false
	}
	if len(n.Input) < 3 || n.Input[2] == "" {
		return true
	}
	v, ok := w.file.Value(n.Input[2])
	return ok && v.DType == tensor.F32 && v.Count() == 1 && v.F32()[0] == 0
}

// move moves the DequantizeLinear of the operands to the result of n, so that n moves bytes.
func (w *rewriter) move(n *onnxpb.NodeProto) {
	s := w.scaled[n.Input[0]]
	m := &onnxpb.NodeProto{OpType: n.OpType, Domain: n.Domain, Name: n.Name, Attribute: n.Attribute,
		Input: slices.Clone(n.Input)}
	switch m.Input[0] = s.bytes; n.OpType {
	case "Concat":
		for i, name := range n.Input {
			m.Input[i] = w.scaled[name].bytes
		}
	case "Pad": // the byte for the number 0 is the zero point
		m.Input = append(m.Input[:min(len(m.Input), 2)], s.zero)
		if len(n.Input) > 3 {
			m.Input = append(m.Input, n.Input[3:]...)
		}
	}
	for _, name := range n.Output {
		if name != "" {
			name = w.fresh(name, "bytes")
		}
		m.Output = append(m.Output, name)
	}
	w.emit(m)
	w.moved[m], w.Replaced[m.Output[0]] = true, n
	for i, name := range n.Output {
		if name == "" {
			continue
		}
		in := []string{m.Output[i], s.scale}
		if s.zero != "" {
			in = append(in, s.zero)
		}
		w.emit(&onnxpb.NodeProto{OpType: "DequantizeLinear", Input: in, Output: []string{name}})
		w.scaled[name] = scaled{bytes: m.Output[i], scale: s.scale, zero: s.zero, channels: 1}
		if kind, known := w.kinds[s.bytes]; known {
			w.kinds[m.Output[i]] = kind
		}
	}
}
