package onnx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// This file has operators that are computed only from constants, and operators that become
// several operations.

func init() {
	for op, draw := range map[string]func(s *sketch, n *onnxpb.NodeProto, x operand){
		"Pow": drawPow, "Mod": drawMod, "Where": drawWhere, "Range": drawRange, "OneHot": drawOneHot,
		"CastLike": drawLike, "CumSum": drawCumSum, "Einsum": drawEinsum, "TopK": drawTopK,
		"GatherElements": drawElements, "ScatterElements": drawElements, "Scatter": drawElements,
		"GatherND": drawTuples, "ScatterND": drawTuples, "Tile": drawTile, "Trilu": drawTrilu,
		"ArgMin": drawArgMax, "EyeLike": drawEye, "Celu": withNumbers("alpha"), "LpNormalization": drawLp,
		"LpPool": drawPool, "LayerNormalization": drawLayerNorm, "GroupNormalization": drawChannels,
		"Compress": drawMarks, "CenterCropPad": drawCenter, "Col2Im": drawCol2Im, "AffineGrid": drawGrid,
		"MeanVarianceNormalization": drawMeanVariance,
		"InstanceNormalization":     drawChannels, "Mean": drawSum, "Max": drawSum, "Min": drawSum,
	} {
		draws[op] = draw
	}
	for _, op := range []string{"Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "And", "Or", "Xor",
		"BitwiseAnd", "BitwiseOr", "BitwiseXor"} {
		draws[op] = drawTwo
	}
	for op := range table {
		if strings.HasPrefix(op, "Reduce") {
			draws[op] = drawReduce
		}
	}
}

// drawTwo draws a second operand: a constant with the type of the first operand.
func drawTwo(s *sketch, n *onnxpb.NodeProto, x operand) {
	n.Input = append(n.Input, s.filled(x.dtype, s.broadcast(x.shape)...).name)
}

func drawPow(s *sketch, n *onnxpb.NodeProto, x operand) {
	if x.constant && s.oneIn(2) {
		drawTwo(s, n, x)
		return
	}
	p := oneOf[float32](s.dice, 2, 3, 0.5, -1, 1, -0.5, 5, -2, 1.5, 0, 0.25)
	n.Input = append(n.Input, s.keep(oneOf(s.dice, tensor.Scalar(p), tensor.Of([]float32{p}, 1))))
	if s.oneIn(8) {
		slices.Reverse(n.Input)
	}
}

func drawMod(s *sketch, n *onnxpb.NodeProto, x operand) {
	drawTwo(s, n, x)
	if isFloat(x.dtype) || s.oneIn(3) {
		s.put(n, intAttr("fmod", 1))
	}
}

func drawWhere(s *sketch, n *onnxpb.NodeProto, x operand) {
	test := s.filled(tensor.Bool, s.broadcast(x.shape)...)
	if !x.constant {
		for i, p := range s.g.Initializer {
			if p.Name == test.name && !s.oneIn(8) {
				s.g.Initializer[i].RawData = slices.Repeat([]byte{byte(s.dice(2))}, len(p.RawData))
			}
		}
	}
	other := s.filled(x.dtype, s.broadcast(x.shape)...).name
	n.Input = []string{test.name, x.name, other}
	if s.oneIn(2) {
		n.Input = []string{test.name, other, x.name}
	}
}

func drawRange(s *sketch, n *onnxpb.NodeProto, x operand) {
	d := oneOf(s.dice, tensor.I64, tensor.I32, tensor.F32)
	n.Input = nil
	for _, v := range []int{s.between(-3, 3), s.between(-3, 6), oneOf(s.dice, 1, 2, -1, -2)} {
		t := tensor.New(d)
		switch d {
		case tensor.I64:
			t.I64()[0] = int64(v)
		case tensor.I32:
			t.I32()[0] = int32(v)
		default:
			t.F32()[0] = float32(v) / 2
		}
		n.Input = append(n.Input, s.keep(t))
	}
}

func drawOneHot(s *sketch, n *onnxpb.NodeProto, x operand) {
	pair := s.filled(oneOf(s.dice, tensor.F32, tensor.I64), 2)
	n.Input = append(n.Input, s.keep(tensor.Scalar(int64(s.between(1, 5)))), pair.name)
	if s.oneIn(2) {
		s.put(n, intAttr("axis", s.axis(len(x.shape)+1)))
	}
}

func drawLike(s *sketch, n *onnxpb.NodeProto, _ operand) {
	n.Input = append(n.Input, s.filled(oneOf(s.dice, tensor.F32, tensor.F32, tensor.I64, tensor.F64), 1).name)
}

func drawCumSum(s *sketch, n *onnxpb.NodeProto, x operand) {
	n.Input = append(n.Input, s.keep(tensor.Scalar(int64(s.axis(len(x.shape))))))
	s.seldom(n, "exclusive", s.dice(2))
	s.seldom(n, "reverse", s.dice(2))
}

func drawEinsum(s *sketch, n *onnxpb.NodeProto, x operand) {
	letters := "abcdefgh"[:len(x.shape)]
	switch s.dice(3) {
	case 0:
		s.put(n, textAttr("equation", letters+"->"+letters[len(letters)/2:]))
	case 1:
		n.Input = append(n.Input, s.filled(x.dtype, x.shape...).name)
		s.put(n, textAttr("equation", letters+","+letters+"->"+letters[:len(letters)/2]))
	default:
		if len(x.shape) == 0 {
			return
		}
		last := x.shape[len(x.shape)-1]
		n.Input = append(n.Input, s.filled(x.dtype, last, s.between(1, 3)).name)
		z := letters[len(letters)-1:]
		s.put(n, textAttr("equation", fmt.Sprintf("%s,%sz->%sz", letters, z, letters[:len(letters)-1])))
	}
}

func drawTopK(s *sketch, n *onnxpb.NodeProto, x operand) {
	axis := s.axis(len(x.shape))
	s.put(n, intAttr("axis", axis))
	s.seldom(n, "largest", s.dice(2))
	n.Output = append(n.Output, s.free("v"))
	n.Input = append(n.Input, s.integers(s.between(0, 3)))
	if s.oneIn(2) {
		n.Output[0], n.Output[1] = n.Output[1], n.Output[0]
		slices.Reverse(n.Output)
	}
}

func drawMarks(s *sketch, n *onnxpb.NodeProto, x operand) {
	axis := s.behind(len(x.shape))
	s.put(n, intAttr("axis", axis))
	length := 1
	if rank := len(x.shape); rank > 0 && axis >= -rank {
		length = x.shape[(axis+rank)%rank]
	}
	marks := tensor.New(tensor.Bool, length)
	for i := range marks.Bytes {
		marks.Bytes[i] = byte(s.dice(2))
	}
	n.Input = append(n.Input, s.keep(marks))
}

func drawCenter(s *sketch, n *onnxpb.NodeProto, x operand) {
	axis := s.behind(len(x.shape))
	s.put(n, intsAttr("axes", axis))
	n.Input = append(n.Input, s.integers(s.between(1, 7)))
}

func drawCol2Im(s *sketch, n *onnxpb.NodeProto, x operand) {
	block := []int{1, 1}
	if len(x.shape) > 1 && x.shape[1] == 4 {
		block = s.numbers(2, 1, 2)
	}
	columns := 1
	if len(x.shape) > 2 {
		columns = x.shape[2]
	}
	n.Input = append(n.Input, s.integers(s.near(block[0], columns+block[1]-1)...), s.integers(block...))
}

func drawGrid(s *sketch, n *onnxpb.NodeProto, x operand) {
	s.seldom(n, "align_corners", s.dice(2))
	if axes := 2; len(x.shape) == 3 && x.shape[1] == 3 {
		n.Input = append(n.Input, s.integers(append([]int{s.rows, 1}, s.numbers(axes+1, 1, 3)...)...))
	} else {
		n.Input = append(n.Input, s.integers(append([]int{s.rows, 1}, s.numbers(axes, 1, 4)...)...))
	}
}

func drawMeanVariance(s *sketch, n *onnxpb.NodeProto, x operand) {
	s.put(n, intsAttr("axes", s.behind(len(x.shape))))
}

func drawElements(s *sketch, n *onnxpb.NodeProto, x operand) {
	shape := slices.Clone(x.shape)
	for i := range shape {
		shape[i] = s.between(min(1, shape[i]), shape[i])
	}
	index := tensor.New(tensor.I64, shape...)
	for i := range index.I64() {
		index.I64()[i] = int64(s.between(-1, 0))
	}
	n.Input = append(n.Input, s.keep(index))
	if n.OpType != "GatherElements" {
		n.Input = append(n.Input, s.filled(x.dtype, shape...).name)
	}
	if s.oneIn(2) {
		s.put(n, intAttr("axis", s.axis(len(x.shape))))
	}
}

func drawTuples(s *sketch, n *onnxpb.NodeProto, x operand) {
	k, count := s.between(1, max(len(x.shape), 1)), s.between(1, 3)
	index := tensor.New(tensor.I64, count, k)
	for i := range index.I64() {
		index.I64()[i] = int64(s.between(-1, 0))
	}
	n.Input = append(n.Input, s.keep(index))
	if n.OpType == "ScatterND" {
		shape := append([]int{count}, x.shape[min(k, len(x.shape)):]...)
		n.Input = append(n.Input, s.filled(x.dtype, shape...).name)
	}
}

func drawTile(s *sketch, n *onnxpb.NodeProto, x operand) {
	l := s.numbers(len(x.shape), 1, 3)
	if len(l) > 0 && !s.oneIn(4) {
		l[0] = 1
	}
	n.Input = append(n.Input, s.integers(l...))
}

func drawTrilu(s *sketch, n *onnxpb.NodeProto, _ operand) {
	if s.oneIn(2) {
		n.Input = append(n.Input, s.keep(tensor.Scalar(int64(s.between(-2, 2)))))
	}
	s.seldom(n, "upper", s.dice(2))
}

func drawEye(s *sketch, n *onnxpb.NodeProto, _ operand) {
	s.seldom(n, "k", s.between(-2, 2))
	if s.oneIn(2) {
		s.put(n, intAttr("dtype", int(oneOf(s.dice, onnxpb.TensorProto_FLOAT, onnxpb.TensorProto_INT64))))
	}
}

func drawLp(s *sketch, n *onnxpb.NodeProto, x operand) {
	withAxis(s, n, x)
	s.seldom(n, "p", s.between(1, 2))
}

func drawLayerNorm(s *sketch, n *onnxpb.NodeProto, x operand) {
	axis := s.behind(len(x.shape))
	if s.oneIn(2) {
		s.put(n, intAttr("axis", axis))
	} else {
		axis = -1
	}
	at := axis
	if at < 0 {
		at += len(x.shape)
	}
	if at < 0 || at > len(x.shape) {
		return
	}
	n.Input = append(n.Input, s.floats(-1, s.near(x.shape[at:]...)...))
	if s.oneIn(2) {
		n.Input = append(n.Input, s.floats(-1, s.near(x.shape[at:]...)...))
	}
	s.epsilon(n)
}

func (s *sketch) epsilon(n *onnxpb.NodeProto) {
	if s.oneIn(2) {
		s.put(n, floatAttr("epsilon", 0.01))
	}
}

// drawChannels draws InstanceNormalization and GroupNormalization.
func drawChannels(s *sketch, n *onnxpb.NodeProto, x operand) {
	channels := 1
	if len(x.shape) > 1 {
		channels = x.shape[1]
	}
	if n.OpType == "GroupNormalization" {
		groups := oneOf(s.dice, 1, channels, 2)
		s.put(n, intAttr("num_groups", groups))
		if s.opset < 21 {
			channels = groups
		}
	}
	for range 2 {
		n.Input = append(n.Input, s.floats(-1, s.near(channels)...))
	}
	s.epsilon(n)
}
