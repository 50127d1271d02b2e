package onnx

import (
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// filled draws a constant with a type and a shape.
func (s *sketch) filled(d tensor.DType, shape ...int) operand {
	t := tensor.New(d, shape...)
	for i := range tensor.Count(shape) {
		switch v := s.between(0, 5); d {
		case tensor.F32:
			t.F32()[i] = float32(v)/2 - 1
		case tensor.F64:
			t.F64()[i] = float64(v)/2 - 1
		case tensor.I64:
			t.I64()[i] = int64(v)
		case tensor.I32:
			t.I32()[i] = int32(v - 2)
		case tensor.Bool:
			t.Bytes[i] = byte(v % 2)
		default: // types of one byte
			t.Bytes[i] = byte(37 * v)
		}
	}
	return s.have[s.keep(t)]
}

// drawResize draws scales or sizes. The operator set decides whether they are attributes or
// operands.
func drawResize(s *sketch, n *onnxpb.NodeProto, x operand) {
	rank := len(x.shape)
	scales, sizes := tensor.New(tensor.F32, s.near(rank)...), make([]int, rank)
	for i := range scales.F32() {
		scales.F32()[i] = 1
		if i > 1 || s.oneIn(20) {
			scales.F32()[i] = oneOf[float32](s.dice, 0.5, 1, 1.5, 2, 2, 3, 0.7)
		}
	}
	for i, length := range x.shape {
		sizes[i] = length
		if i > 1 || s.oneIn(20) {
			sizes[i] = s.between(1, 7)
		}
	}
	s.put(n, textAttr("mode", oneOf(s.dice, "nearest", "nearest", "linear", "cubic")))
	switch {
	case n.OpType == "Upsample" && s.opset < 9:
		s.put(n, &onnxpb.AttributeProto{Name: "scales", Type: onnxpb.AttributeProto_FLOATS, Floats: scales.F32()})
		return
	case n.OpType == "Upsample" || s.opset < 11:
		n.Input = append(n.Input, s.keep(scales))
		return
	}
	s.placed(n)
	axes := indicesTo(rank)
	if s.opset >= 18 && s.oneIn(3) && rank > 2 {
		axes = axes[2:]
		s.put(n, intsAttr("axes", axes...))
	}
	from := rank - len(axes)
	part := scales.F32()[min(from, len(scales.F32())):]
	roi, scale := "", "" // before operator set 13, an absent operand was an empty tensor
	if s.opset < 13 {
		roi, scale = s.keep(tensor.New(tensor.F32, 0)), s.keep(tensor.New(tensor.F32, 0))
	}
	if s.oneIn(2) {
		n.Input = append(n.Input, roi, s.keep(tensor.Of(part, len(part))))
		return
	}
	n.Input = append(n.Input, roi, scale, s.integers(sizes[from:]...))
}

// placed adds the attributes of Resize that define the coordinates of pixels.
func (s *sketch) placed(n *onnxpb.NodeProto) {
	if s.oneIn(2) {
		s.put(n, textAttr("coordinate_transformation_mode", oneOf(s.dice, "asymmetric", "half_pixel",
			"align_corners", "pytorch_half_pixel", "tf_crop_and_resize", "half_pixel_symmetric")))
	}
	if s.oneIn(3) {
		s.put(n, textAttr("nearest_mode", oneOf(s.dice, "floor", "ceil", "round_prefer_floor", "round_prefer_ceil")))
	}
	s.seldom(n, "exclude_outside", s.dice(2))
	if s.opset >= 18 {
		s.seldom(n, "antialias", s.dice(2))
	}
	if s.opset >= 18 && s.oneIn(5) {
		s.put(n, textAttr("keep_aspect_ratio_policy", oneOf(s.dice, "stretch", "not_larger", "not_smaller")))
	}
}

func drawShape(s *sketch, n *onnxpb.NodeProto, x operand) {
	if s.opset >= 15 {
		s.seldom(n, "start", s.between(-3, 3))
		s.seldom(n, "end", s.between(-3, 5))
	}
}

func drawGather(s *sketch, n *onnxpb.NodeProto, x operand) {
	index := tensor.New(tensor.I64, s.dims(s.dice(3))...)
	for i := range index.I64() {
		index.I64()[i] = int64(s.between(-1, 0))
	}
	n.Input = append(n.Input, s.keep(index))
	if s.oneIn(2) {
		s.put(n, intAttr("axis", s.axis(len(x.shape))))
	}
}

func drawFilled(s *sketch, n *onnxpb.NodeProto, _ operand) {
	n.Input[0] = s.integers(s.dims(s.dice(5))...)
	if s.oneIn(2) {
		t := s.filled(oneOf(s.dice, tensor.F32, tensor.I64), 1)
		for i, p := range s.g.Initializer {
			if p.Name == t.name {
				s.g.Initializer = append(s.g.Initializer[:i:i], s.g.Initializer[i+1:]...)
				s.put(n, &onnxpb.AttributeProto{Name: "value", Type: onnxpb.AttributeProto_TENSOR, T: p})
			}
		}
	}
}

func drawQuantised(s *sketch, n *onnxpb.NodeProto, x operand) {
	axis := s.axis(len(x.shape))
	var shape []int
	if at := (axis + len(x.shape)) % max(len(x.shape), 1); s.oneIn(2) && at >= 0 && len(x.shape) > 0 {
		shape = []int{x.shape[at]}
	}
	if s.oneIn(2) || len(shape) > 0 {
		s.put(n, intAttr("axis", axis))
	}
	n.Input = append(n.Input, s.floats(0.25, s.near(shape...)...))
	d := x.dtype
	if n.OpType == "QuantizeLinear" {
		d = oneOf(s.dice, tensor.U8, tensor.I8)
	}
	if s.oneIn(2) && (d == tensor.U8 || d == tensor.I8) {
		n.Input = append(n.Input, s.filled(d, s.have[n.Input[1]].shape...).name)
	}
}
