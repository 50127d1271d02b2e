package encode

import (
	"cmp"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Operations on bytes are written in QDQ form: an operator of floats with a DequantizeLinear before
// each operand and a QuantizeLinear after it. An int8 model of bnctl has no scales, only ratios of
// scales, called by. The scale of a feature map is written as 1, and the scale of a weight or an
// addend as by. From these scales, a runtime computes the ratio as a product over a quotient, which
// is exactly by.

// dequantised converts a value of bytes to floats and returns its name.
func (e *encoding) dequantised(suffix, x string, scale float64, zero int) string {
	return e.intermediate("DequantizeLinear", suffix, []string{x, e.scalar(e.out+suffix+".scale", scale),
		e.byte(e.out+suffix+".zero", zero)})
}

// byte adds a byte as a constant.
func (e *encoding) byte(name string, v int) string {
	return e.initializer(e.takenNames.Free(name), tensor.Scalar(uint8(v)))
}

// quantised writes v as bytes within the bounds of the node. v is in steps of the result.
func (e *encoding) quantised(v string) {
	zero, low, high := e.n.Int("zero"), 0, 255
	if e.n.Op != graph.AvgPoolInt8 {
		low, high = e.n.Int("min"), e.n.Int("max")
	}
	switch {
	case low == 0 && high == 255:
	case low == zero && high == 255:
		v = e.intermediate("Relu", ".relu", []string{v})
	default:
		v = e.intermediate("Clip", ".clip", []string{v, e.scalar(e.out+".min", float64(low-zero)),
			e.scalar(e.out+".max", float64(high-zero))})
	}
	e.add("QuantizeLinear", []string{v, e.scalar(e.out+".scale", 1), e.byte(e.out+".zero", zero)}, e.out)
}

// encodeSumInt8 writes a Conv or a Gemm.
func encodeSumInt8(e *encoding) {
	by := e.in[3]
	weight := e.m.State[e.f.Values[e.n.In[1]].State]
	channels := func(suffix, x string, d tensor.DType) string {
		zero := e.initializer(e.takenNames.Free(e.out+suffix+".zero"), tensor.New(d, weight.Shape[0]))
		return e.intermediate("DequantizeLinear", suffix, []string{x, by, zero}, onnxpb.IntAttr("axis", 0))
	}
	in := []string{e.dequantised(".x", e.in[0], 1, e.n.Int("x_zero")), channels(".weight", e.in[1], tensor.I8),
		channels(".bias", e.in[2], tensor.I32)}
	op, attrs := "Gemm", []*onnxpb.AttributeProto{onnxpb.IntAttr("transB", 1)}
	if e.n.Op == graph.ConvInt8 {
		op, attrs = "Conv", convAttrs(e)
	}
	if e.n.Bool("float") {
		e.add(op, in, e.out, attrs...)
		return
	}
	e.quantised(e.intermediate(op, ".sum", in, attrs...))
}

// encodePairInt8 writes an Add or a Mul.
func encodePairInt8(e *encoding) {
	op, a, b := "Mul", 1.0, 1.0
	if e.n.Op == graph.AddInt8 {
		op, a, b = "Add", e.n.Float("a_by"), e.n.Float("b_by")
	} else {
		b = e.n.Float("by")
	}
	v := e.intermediate(op, ".result", []string{e.dequantised(".a", e.in[0], a, e.n.Int("a_zero")),
		e.dequantised(".b", e.in[1], b, e.n.Int("b_zero"))})
	if joint := cmp.Or(e.n.Text("joint"), onnxpb.Apart); joint != "u8" { // u8 is the type in the file
		e.g.Node[len(e.g.Node)-1].DocString = onnxpb.JointText + joint
	}
	e.quantised(v)
}

func encodeAvgPoolInt8(e *encoding) {
	w := e.f.WindowOf(e.n)
	x := []string{e.dequantised(".x", e.in[0], e.n.Float("by"), e.n.Int("x_zero"))}
	if s := e.shape(0); slices.Equal(w.Kernel[:], s[1:]) && slices.Max(w.Pad[:]) == 0 {
		e.quantised(e.intermediate("GlobalAveragePool", ".mean", x))
		return
	}
	e.quantised(e.intermediate("AveragePool", ".mean", x, averageAttrs(e)...))
}

// encodeTableInt8 writes a lookup in a table, which represents any function of bytes.
func encodeTableInt8(e *encoding) {
	at := e.intermediate("Cast", ".at", e.in[:1], onnxpb.IntAttr("to", int(onnxpb.TensorProto_INT32)))
	e.add("Gather", []string{e.in[1], at}, e.out)
}

func encodePadInt8(e *encoding) {
	pads := append(append([]int{0}, e.n.Ints("before")...), append([]int{0}, e.n.Ints("after")...)...)
	e.in = append(e.in, e.ints(e.out+".pads", pads...), e.byte(e.out+".value", e.n.Int("zero")))
	e.is("Pad")
}
