package onnx

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"
)

func encodeConv(e *encoding) {
	w := e.f.WindowOf(e.n)
	attrs := []*onnxpb.AttributeProto{intsAttr("kernel_shape", w.Kernel[:]...),
		intsAttr("strides", w.Stride[:]...),
		intsAttr("pads", w.Pad[:]...), intsAttr("dilations", w.Dilation[:]...), intAttr("group", w.Groups)}
	if e.n.Op == graph.ConvTranspose {
		e.is("ConvTranspose", append(attrs, intsAttr("output_padding", e.n.Ints("output_pad")...))...)
		return
	}
	e.is("Conv", attrs...)
}

func encodeDense(e *encoding) { e.is("Gemm", intAttr("transB", 1)) }

func encodeBatchNorm(e *encoding) {
	e.is("BatchNormalization", floatAttr("epsilon", e.n.Float("eps")),
		floatAttr("momentum", e.n.Float("decay")))
}

func encodePool(e *encoding) {
	w := e.f.WindowOf(e.n)
	attrs := []*onnxpb.AttributeProto{intsAttr("kernel_shape", w.Kernel[:]...),
		intsAttr("strides", w.Stride[:]...), intsAttr("pads", w.Pad[:]...)}
	if e.n.Op == graph.MaxPool {
		e.is("MaxPool", attrs...)
		return
	}
	count := 0
	if e.n.Bool("count_pad") {
		count = 1
	}
	e.is("AveragePool", append(attrs, intAttr("count_include_pad", count))...)
}
