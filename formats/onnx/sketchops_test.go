package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// draws has a function for each operator. It completes a node that has x as its first
// operand: it draws other operands, attributes and further results. Most drawn nodes are
// valid ONNX, and some are not.
var draws = map[string]func(s *sketch, n *onnxpb.NodeProto, x operand){
	"Conv": drawConv, "ConvTranspose": drawConv, "MaxPool": drawPool, "AveragePool": drawPool,
	"Gemm": drawGemm, "MatMul": drawMatMul, "BatchNormalization": drawNorm,
	"LeakyRelu": withNumbers("alpha"), "Elu": withNumbers("alpha"), "Selu": withNumbers("alpha", "gamma"),
	"HardSigmoid": withNumbers("alpha", "beta"), "PRelu": drawSlopes, "Clip": drawClip,
	"ThresholdedRelu": withNumbers("alpha"), "Shrink": withNumbers("bias", "lambd"), "Hardmax": withAxis,
	"Softmax": withAxis, "LogSoftmax": withAxis, "ArgMax": drawArgMax, "Flatten": withAxis,
	"Add": drawBinary, "Sub": drawBinary, "Mul": drawBinary, "Div": drawBinary, "Sum": drawSum,
	"ReduceMean": drawReduce, "ReduceSum": drawReduce, "ReduceMax": drawReduce, "ReduceMin": drawReduce,
	"LRN": drawLRN, "Concat": drawConcat, "Split": drawSplit, "Slice": drawSlice, "Pad": drawPad,
	"Transpose": drawTranspose, "Expand": drawExpand, "Reshape": drawReshape,
	"Squeeze": drawAxes, "Unsqueeze": drawAxes, "DepthToSpace": drawBlocks, "SpaceToDepth": drawBlocks,
	"Resize": drawResize, "Upsample": drawResize, "Cast": drawCast, "Dropout": drawDropout,
	"Shape": drawShape, "Gather": drawGather, "ConstantOfShape": drawFilled,
	"QuantizeLinear": drawQuantised, "DequantizeLinear": drawQuantised,
}

func (s *sketch) put(n *onnxpb.NodeProto, a *onnxpb.AttributeProto) {
	n.Attribute = append(n.Attribute, a)
}

// seldom adds an integer attribute in one of three cases.
func (s *sketch) seldom(n *onnxpb.NodeProto, name string, v int) {
	if s.oneIn(3) {
		s.put(n, intAttr(name, v))
	}
}

// list adds a list of integers, as an attribute before operator set since, and as operand i
// from that set on. Once in forty times it does the opposite.
func (s *sketch) list(n *onnxpb.NodeProto, name string, i, since int, l ...int) {
	if (s.opset < since) != s.oneIn(40) {
		s.put(n, intsAttr(name, l...))
		return
	}
	for len(n.Input) < i {
		n.Input = append(n.Input, "")
	}
	n.Input = append(n.Input, s.integers(l...))
}

// window draws a kernel, and adds the other attributes of a window over some axes.
func (s *sketch) window(n *onnxpb.NodeProto, axes int) (kernel []int) {
	kernel = s.numbers(axes, 1, 3)
	if s.oneIn(2) {
		s.put(n, intsAttr("strides", s.near(s.numbers(axes, 1, 3)...)...))
	}
	if s.oneIn(4) {
		s.put(n, intsAttr("dilations", s.numbers(axes, 1, 2)...))
	}
	switch s.dice(4) {
	case 0:
		s.put(n, intsAttr("pads", s.near(s.numbers(2*axes, 0, 1)...)...))
	case 1:
		s.put(n, textAttr("auto_pad", oneOf(s.dice, "SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET")))
	}
	return kernel
}

func (s *sketch) spatial(x operand) int { return max(len(x.shape)-2, 0) }

func drawConv(s *sketch, n *onnxpb.NodeProto, x operand) {
	kernel, channels, group := s.window(n, s.spatial(x)), 1, 1
	if len(x.shape) > 1 {
		channels = x.shape[1]
	}
	if s.oneIn(3) {
		group = oneOf(s.dice, channels, s.between(1, 2))
		s.put(n, intAttr("group", group))
	}
	if s.oneIn(2) {
		s.put(n, intsAttr("kernel_shape", kernel...))
	}
	each := s.between(1, 2)
	outputs, shape := group*each, []int{group * each, max(channels/group, 1)}
	if n.OpType == "ConvTranspose" {
		shape = []int{channels, each}
		if s.oneIn(3) {
			s.put(n, intsAttr("output_padding", s.numbers(len(kernel), 0, 1)...))
		}
		if s.oneIn(10) {
			s.put(n, intsAttr("output_shape", s.numbers(len(kernel), 1, 6)...))
		}
	}
	n.Input = append(n.Input, s.floats(-1, s.near(append(shape, kernel...)...)...))
	if s.oneIn(2) {
		n.Input = append(n.Input, s.floats(-1, s.near(outputs)...))
	}
}

func drawPool(s *sketch, n *onnxpb.NodeProto, x operand) {
	kernel := s.window(n, s.spatial(x))
	if !s.oneIn(20) {
		s.put(n, intsAttr("kernel_shape", s.near(kernel...)...))
	}
	s.seldom(n, "ceil_mode", s.dice(2))
	if n.OpType == "AveragePool" {
		s.seldom(n, "count_include_pad", s.dice(2))
	} else if s.oneIn(8) {
		n.Output = append(n.Output, oneOf(s.dice, "", s.free("v")))
	}
}

func drawGemm(s *sketch, n *onnxpb.NodeProto, x operand) {
	outputs, inputs := s.between(1, 4), tensor.Count(x.shape[min(1, len(x.shape)):])
	b := []int{inputs, outputs}
	if s.oneIn(2) {
		s.put(n, intAttr("transB", 1))
		b = []int{outputs, inputs}
	}
	s.seldom(n, "transA", s.dice(8)/7)
	n.Input = append(n.Input, s.floats(-1, s.near(b...)...))
	if s.oneIn(2) {
		c := oneOf(s.dice, []int{outputs}, []int{1}, nil, []int{1, outputs},
			[]int{s.rows, outputs}, []int{s.rows, 1})
		n.Input = append(n.Input, s.floats(-1, s.near(c...)...))
	}
	withNumbers("alpha", "beta")(s, n, x)
}

func drawMatMul(s *sketch, n *onnxpb.NodeProto, x operand) {
	last := 1
	if len(x.shape) > 0 {
		last = x.shape[len(x.shape)-1]
	}
	n.Input = append(n.Input, s.floats(-1, s.near(last, s.between(1, 4))...))
	if s.oneIn(10) {
		slices.Reverse(n.Input)
	}
}

func drawNorm(s *sketch, n *onnxpb.NodeProto, x operand) {
	channels := 1
	if len(x.shape) > 1 {
		channels = x.shape[1]
	}
	for i := range 4 {
		n.Input = append(n.Input, s.floats(float32(i/3)-0.75+float32(i/3), s.near(channels)...))
	}
	if s.oneIn(2) {
		s.put(n, floatAttr("epsilon", 0.01))
	}
	if s.oneIn(2) {
		s.put(n, floatAttr("momentum", float64(s.dice(5))/4))
	}
	if s.opset >= 14 && s.oneIn(8) {
		s.put(n, intAttr("training_mode", s.dice(2)))
	}
	if s.opset < 9 && s.oneIn(8) {
		s.put(n, intAttr("spatial", s.dice(2)))
	}
	if s.opset < 7 {
		s.put(n, intAttr("is_test", 1))
	}
}

func withNumbers(names ...string) func(*sketch, *onnxpb.NodeProto, operand) {
	return func(s *sketch, n *onnxpb.NodeProto, _ operand) {
		for _, name := range names {
			if s.oneIn(2) {
				s.put(n, floatAttr(name, float64(s.between(-4, 8))/4))
			}
		}
	}
}

func withAxis(s *sketch, n *onnxpb.NodeProto, x operand) {
	if !s.oneIn(4) {
		s.put(n, intAttr("axis", s.behind(len(x.shape))))
	}
}

func drawSlopes(s *sketch, n *onnxpb.NodeProto, x operand) {
	shape := s.broadcast(x.shape)
	if len(x.shape) > 1 && s.oneIn(2) {
		shape = append([]int{x.shape[1]}, slices.Repeat([]int{1}, len(x.shape)-2)...)
	}
	n.Input = append(n.Input, s.floats(-1, shape...))
}

func drawClip(s *sketch, n *onnxpb.NodeProto, _ operand) {
	low, high := oneOf(s.dice, -0.5, 0, 0.25, 7), oneOf(s.dice, 0.5, 6, 0.25)
	if (s.opset < 11) != s.oneIn(40) {
		if s.oneIn(2) {
			s.put(n, floatAttr("min", low))
		}
		if s.oneIn(2) {
			s.put(n, floatAttr("max", high))
		}
		return
	}
	bound := func(v float64) string {
		switch s.dice(4) {
		case 0:
			return ""
		case 1:
			return s.keep(tensor.Of([]float32{float32(v)}, 1))
		}
		return s.keep(tensor.Scalar(float32(v)))
	}
	n.Input = append(n.Input, bound(low), bound(high))
}
