package encode

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
)

// convAttrs returns the attributes of the window of a convolution.
func convAttrs(e *encoding) []*onnxpb.AttributeProto {
	w := e.f.WindowOf(e.n)
	return []*onnxpb.AttributeProto{onnxpb.IntsAttr("kernel_shape", w.Kernel[:]...),
		onnxpb.IntsAttr("strides", w.Stride[:]...), onnxpb.IntsAttr("pads", w.Pad[:]...),
		onnxpb.IntsAttr("dilations", w.Dilation[:]...), onnxpb.IntAttr("group", w.Groups)}
}

func encodeConv(e *encoding) {
	attrs := convAttrs(e)
	if e.n.Op == graph.ConvTranspose {
		e.is("ConvTranspose", append(attrs, onnxpb.IntsAttr("output_padding", e.n.Ints("output_pad")...))...)
		return
	}
	e.is("Conv", attrs...)
}

// encodeDense writes a Gemm. A dense layer with leading axes becomes a MatMul with the transposed
// weight and an Add.
func encodeDense(e *encoding) {
	if e.n.Int("leading") == 0 {
		e.is("Gemm", onnxpb.IntAttr("transB", 1))
		return
	}
	turned := e.intermediate("Transpose", ".weight", e.in[1:2], onnxpb.IntsAttr("perm", 1, 0))
	if len(e.in) < 3 || e.in[2] == "" {
		e.add("MatMul", []string{e.in[0], turned}, e.out)
		return
	}
	product := e.intermediate("MatMul", ".product", []string{e.in[0], turned})
	e.add("Add", []string{product, e.in[2]}, e.out)
}

// encodeMatMul writes a MatMul. It transposes operands that hold their matrix transposed.
func encodeMatMul(e *encoding) {
	in := slices.Clone(e.in)
	for i, key := range []string{"transpose_a", "transpose_b"} {
		if !e.n.Bool(key) {
			continue
		}
		axes := len(e.shape(i))
		if e.isRows(i) {
			axes++
		}
		perm := make([]int, axes)
		for a := range perm {
			perm[a] = a
		}
		perm[axes-2], perm[axes-1] = axes-1, axes-2
		in[i] = e.intermediate("Transpose", "."+key, []string{in[i]}, onnxpb.IntsAttr("perm", perm...))
	}
	e.add("MatMul", e.alignBatch(in), e.out)
}

// alignBatch inserts axes of length 1 into rows until both operands have the same rank, so that the
// batch axes coincide.
func (e *encoding) alignBatch(in []string) []string {
	for i := range in {
		s, other := e.shape(i), e.shape(1-i)
		if !e.isRows(i) || len(s) >= len(other) {
			continue
		}
		shape := append([]int{0}, slices.Repeat([]int{1}, len(other)-len(s))...)
		turned := slices.Clone(s)
		if key := []string{"transpose_a", "transpose_b"}[i]; e.n.Bool(key) {
			n := len(s)
			turned[n-2], turned[n-1] = s[n-1], s[n-2]
		}
		to := e.ints(e.out+".axes", append(shape, turned...)...)
		in[i] = e.intermediate("Reshape", ".met", []string{in[i], to})
	}
	return in
}

func encodeBatchNorm(e *encoding) {
	e.is("BatchNormalization", onnxpb.FloatAttr("epsilon", e.n.Float("eps")),
		onnxpb.FloatAttr("momentum", e.n.Float("decay")))
}

// poolAttrs returns the attributes of the window of a pool.
func poolAttrs(e *encoding) []*onnxpb.AttributeProto {
	w := e.f.WindowOf(e.n)
	return []*onnxpb.AttributeProto{onnxpb.IntsAttr("kernel_shape", w.Kernel[:]...),
		onnxpb.IntsAttr("strides", w.Stride[:]...), onnxpb.IntsAttr("pads", w.Pad[:]...)}
}

// averageAttrs returns the attributes of the window of an average pool, which may count the padding.
func averageAttrs(e *encoding) []*onnxpb.AttributeProto {
	count := 0
	if e.n.Bool("count_pad") {
		count = 1
	}
	return append(poolAttrs(e), onnxpb.IntAttr("count_include_pad", count))
}

func encodePool(e *encoding) {
	if e.n.Op == graph.AvgPool {
		e.is("AveragePool", averageAttrs(e)...)
		return
	}
	e.is("MaxPool", poolAttrs(e)...)
}
