package qdq

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// explain stores a reason for each node that stays in floats. Nodes that compute no numbers of the
// input have no reason: their operands are constants or shapes, or they only move elements.
func (w *rewriter) explain() {
	fixed := map[string]bool{"": true} // results that do not depend on numbers of the input
	for _, n := range w.Nodes {
		op := decode.Operator(n)
		constant := op == "Shape" || op == "Size" || !slices.ContainsFunc(n.Input, func(name string) bool {
			_, ok := w.file.Value(name)
			return !ok && !fixed[name]
		})
		for _, name := range n.Output {
			fixed[name] = fixed[name] || constant
		}
		if constant || len(n.Output) == 0 || w.moved[n] || w.file.Integers(n) || w.file.Moves(n) ||
			strings.HasSuffix(op, "antizeLinear") || op == "Cast" && w.uncast(n.Output[0]) != n.Output[0] {
			continue
		}
		if w.Reasons[n.Output[0]] == "" {
			w.Reasons[n.Output[0]] = w.reason(n)
		}
	}
}

// reason returns the reason why a node other than a product of quantised feature maps stays
// in floats.
func (w *rewriter) reason(n *onnxpb.NodeProto) string {
	op := decode.Operator(n)
	known := slices.Contains([]string{"Conv", "Gemm", "MatMul", "Add", "Mul", "Concat", "AveragePool",
		"GlobalAveragePool", "ReduceMean", "Clip"}, op) || functions[op] != nil
	var quantised, floats, unknown int
	other := tensor.DType(0) // the type of quantised operands that are not bytes
	for _, name := range n.Input {
		s, ok := w.scaled[name]
		_, constant := w.file.Value(name)
		switch {
		case ok && !s.constant && w.isBytes(s):
			quantised++
		case ok && !s.constant && w.typeOf(s) != 0:
			other = w.typeOf(s)
		case !s.constant && w.isDequantised(name):
			unknown++
		case !constant && name != "" && !s.constant:
			floats++
		}
	}
	switch {
	case !known:
		return "there is no operator of integers for it"
	case other != 0:
		return fmt.Sprintf("its input is quantised to %v, not to bytes", other)
	case unknown > 0:
		return noConstantScale
	case quantised == 0:
		return "its input is not quantised"
	case floats > 0:
		return "one of its operands is not quantised"
	case !w.isQuantised(n):
		return "no QuantizeLinear with one constant scale follows it alone"
	}
	return "no operator of integers has its operands and attributes"
}

// noConstantScale is the reason of nodes that read bytes with a scale for each channel, or with a scale that
// is computed from the input or is not a positive number.
const noConstantScale = "its input is not bytes with one constant scale"

// isDequantised reports whether a DequantizeLinear computes a value.
func (w *rewriter) isDequantised(name string) bool {
	return w.made[name] != nil && strings.HasSuffix(decode.Operator(w.made[name]), "DequantizeLinear")
}

// isQuantised reports whether a QuantizeLinear that can become part of a group is the only
// node that reads the result of n.
func (w *rewriter) isQuantised(n *onnxpb.NodeProto) bool {
	if w.uses[n.Output[0]] != 1 {
		return false
	}
	for _, m := range w.file.Nodes {
		if len(m.Input) > 0 && m.Input[0] == n.Output[0] &&
			strings.HasSuffix(decode.Operator(m), "QuantizeLinear") {
			_, ok := w.readTarget(m)
			return ok
		}
	}
	return false
}

// typeOf returns the type of a zero point if it is neither u8 nor i8, otherwise 0.
func (w *rewriter) typeOf(s scaled) tensor.DType {
	zero, ok := w.file.Value(s.zero)
	if !ok || zero.DType == tensor.U8 || zero.DType == tensor.I8 {
		return 0
	}
	return zero.DType
}
