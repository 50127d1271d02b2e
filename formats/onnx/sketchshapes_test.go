package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// other draws a second operand for x: a constant that broadcasts, or a value.
func (s *sketch) other(x operand) string {
	if !s.oneIn(4) {
		if x.dtype == tensor.I64 {
			t := tensor.New(tensor.I64, s.broadcast(x.shape)...)
			for i := range t.I64() {
				t.I64()[i] = int64(s.between(-3, 5))
			}
			return s.keep(t)
		}
		return s.floats(0.25, s.broadcast(x.shape)...)
	}
	return s.value()
}

// value draws a value that depends on the input.
func (s *sketch) value() string {
	var names []string
	for name, o := range s.have {
		if !o.constant {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return oneOf(s.dice, names...)
}

func drawBinary(s *sketch, n *onnxpb.NodeProto, x operand) {
	n.Input = append(n.Input, s.other(x))
	if s.oneIn(3) {
		slices.Reverse(n.Input)
	}
	if s.opset < 7 {
		s.put(n, intAttr("broadcast", 1))
		if s.oneIn(3) {
			s.put(n, intAttr("axis", s.axis(len(x.shape))))
		}
	}
}

func drawSum(s *sketch, n *onnxpb.NodeProto, x operand) {
	for range s.dice(3) {
		n.Input = append(n.Input, s.other(x))
	}
}

func drawArgMax(s *sketch, n *onnxpb.NodeProto, x operand) {
	withAxis(s, n, x)
	s.seldom(n, "keepdims", s.dice(2))
	s.seldom(n, "select_last_index", s.dice(2))
}

func drawReduce(s *sketch, n *onnxpb.NodeProto, x operand) {
	since := 18
	if n.OpType == "ReduceSum" {
		since = 13
	}
	s.seldom(n, "keepdims", s.dice(2))
	if s.opset >= since {
		s.seldom(n, "noop_with_empty_axes", s.dice(2))
	}
	if !s.oneIn(8) {
		s.list(n, "axes", 1, since, s.axes(len(x.shape))...)
	}
}

func drawLRN(s *sketch, n *onnxpb.NodeProto, x operand) {
	s.put(n, intAttr("size", s.between(1, 5)))
	s.put(n, floatAttr("bias", 2))
	if s.oneIn(2) {
		s.put(n, floatAttr("alpha", 0.5))
	}
	if s.oneIn(2) {
		s.put(n, floatAttr("beta", oneOf(s.dice, 0.5, 1, 0.6)))
	}
}

func drawConcat(s *sketch, n *onnxpb.NodeProto, x operand) {
	s.put(n, intAttr("axis", s.behind(len(x.shape))))
	for range s.dice(3) {
		n.Input = append(n.Input, oneOf(s.dice, x.name, x.name, s.other(x)))
	}
}

func drawSplit(s *sketch, n *onnxpb.NodeProto, x operand) {
	axis, parts := s.behind(len(x.shape)), s.between(1, 3)
	s.put(n, intAttr("axis", axis))
	for range parts - 1 {
		n.Output = append(n.Output, s.free("v"))
	}
	at := (axis + len(x.shape)) % max(len(x.shape), 1)
	if at < 0 || at >= len(x.shape) {
		return
	}
	if s.oneIn(2) {
		l := slices.Repeat([]int{1}, parts)
		l[s.dice(parts)] = max(x.shape[at]-parts+1, 0)
		s.list(n, "split", 1, 13, l...)
	} else if s.opset >= 18 {
		s.put(n, intAttr("num_outputs", parts))
	}
}

func drawSlice(s *sketch, n *onnxpb.NodeProto, x operand) {
	axes := s.axes(len(x.shape))
	if s.oneIn(6) {
		axes = indicesTo(s.dice(len(x.shape) + 1))
	}
	k := len(axes)
	starts, ends := s.numbers(k, -4, 2), s.numbers(k, 0, 5)
	if s.oneIn(3) {
		ends = s.numbers(k, -2, 1<<30)
	}
	named := !s.oneIn(5)
	s.list(n, "starts", 1, 10, starts...)
	s.list(n, "ends", 2, 10, ends...)
	if named {
		s.list(n, "axes", 3, 10, axes...)
	}
	if s.opset >= 10 && s.oneIn(2) {
		n.Input = append(n.Input, slices.Repeat([]string{""}, max(4-len(n.Input), 0))...)
		n.Input = append(n.Input, s.integers(s.numbers(k, oneOf(s.dice, 1, 1, -2), 2)...))
	}
}

func drawPad(s *sketch, n *onnxpb.NodeProto, x operand) {
	rank := len(x.shape)
	l := s.numbers(2*rank, oneOf(s.dice, 0, 0, -1), 2)
	if rank > 0 && !s.oneIn(4) {
		l[0], l[rank] = 0, 0
	}
	if s.oneIn(2) {
		s.put(n, textAttr("mode", oneOf(s.dice, "constant", "reflect", "edge", "wrap")))
	}
	axes := s.axes(rank)
	named := s.opset >= 18 && s.oneIn(2)
	if named {
		l = s.numbers(2*len(axes), 0, 2)
	}
	s.list(n, "pads", 1, 11, l...)
	if s.oneIn(2) && s.opset < 11 {
		s.put(n, floatAttr("value", 0.5))
	} else if s.oneIn(2) && s.opset >= 11 {
		n.Input = append(n.Input, s.keep(tensor.Scalar(float32(0.5))))
	}
	if named {
		s.list(n, "axes", 3, 18, axes...)
	}
}

func drawTranspose(s *sketch, n *onnxpb.NodeProto, x operand) {
	if s.oneIn(8) {
		return
	}
	perm := indicesTo(len(x.shape))
	for i := len(perm) - 1; i > 1; i-- {
		j := s.between(1, i)
		perm[i], perm[j] = perm[j], perm[i]
	}
	if s.oneIn(3) && len(perm) > 1 {
		j := s.between(1, len(perm)-1)
		perm[0], perm[j] = perm[j], perm[0]
	}
	s.put(n, intsAttr("perm", s.near(perm...)...))
}

func drawExpand(s *sketch, n *onnxpb.NodeProto, x operand) {
	to := s.broadcast(x.shape)
	for i := range to {
		if to[i] == 1 && s.oneIn(2) {
			to[i] = s.between(0, 3)
		}
	}
	n.Input = append(n.Input, s.integers(to...))
}

// drawReshape draws a target shape. It mostly keeps the batch, and joins, reverses or adds
// other axes.
func drawReshape(s *sketch, n *onnxpb.NodeProto, x operand) {
	from := slices.Clone(x.shape)
	if s.oneIn(3) && s.opset >= 14 {
		s.put(n, intAttr("allowzero", s.dice(2)))
	}
	to := from
	switch s.dice(5) {
	case 0: // join two axes
		if i := s.between(0, max(len(from)-2, 0)); i+1 < len(from) {
			to = append(append(slices.Clone(from[:i]), from[i]*from[i+1]), from[i+2:]...)
		}
	case 1: // reverse the axes after the batch
		slices.Reverse(to[min(1, len(to)):])
	case 2:
		to = append(to, 1)
	case 3:
		to = []int{first(from, 1), -1}
	}
	if p := x.moved; p != nil && p.Axis < len(to) && !s.oneIn(4) {
		to[p.Axis] = -1
	} else if len(to) > 0 && !x.constant && !s.oneIn(3) {
		to[0] = oneOf(s.dice, 0, -1)
	}
	for i := 1; i < len(to); i++ {
		if i < len(from) && to[i] == from[i] && s.oneIn(3) {
			to[i] = 0
		}
	}
	if i := s.dice(len(to) + 1); i < len(to) && s.oneIn(3) && !slices.Contains(to, -1) {
		to[i] = -1
	}
	s.list(n, "shape", 1, 5, s.near(to...)...)
}

func drawAxes(s *sketch, n *onnxpb.NodeProto, x operand) {
	axes := s.axes(len(x.shape) + 1)
	if n.OpType == "Squeeze" {
		axes = nil
		for a, length := range x.shape {
			if length == 1 && s.oneIn(2) {
				axes = append(axes, oneOf(s.dice, a, a-len(x.shape)))
			}
		}
		if s.oneIn(5) {
			return
		}
	}
	s.list(n, "axes", 1, 13, axes...)
}

func drawBlocks(s *sketch, n *onnxpb.NodeProto, _ operand) {
	s.put(n, intAttr("blocksize", s.between(1, 2)))
	if n.OpType == "DepthToSpace" && s.opset >= 11 {
		s.put(n, textAttr("mode", oneOf(s.dice, "DCR", "CRD")))
	}
}

func drawCast(s *sketch, n *onnxpb.NodeProto, _ operand) {
	s.put(n, intAttr("to", int(oneOf(s.dice, onnxpb.TensorProto_FLOAT, onnxpb.TensorProto_FLOAT,
		onnxpb.TensorProto_DOUBLE, onnxpb.TensorProto_INT64, onnxpb.TensorProto_INT32, onnxpb.TensorProto_UINT8,
		onnxpb.TensorProto_INT8, onnxpb.TensorProto_BOOL))))
}

func drawDropout(s *sketch, n *onnxpb.NodeProto, _ operand) {
	if s.opset < 12 {
		s.seldom(n, "is_test", 1)
	} else if s.oneIn(2) {
		n.Input = append(n.Input, s.keep(tensor.Scalar(float32(s.dice(2))/2)))
	}
	if s.oneIn(5) {
		n.Output = append(n.Output, s.free("v"))
	}
}
