package encode

import (
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// encodeImage writes the operation image as nodes that package onnx reads back as this
// operation. They compute in f64, so that the result is rounded once.
func encodeImage(e *encoding) {
	x := e.intermediate("Cast", ".f64", e.in, onnxpb.IntAttr("to", int(onnxpb.TensorProto_DOUBLE)))
	x = e.intermediate("Transpose", ".chw", []string{x}, onnxpb.IntsAttr("perm", 0, 3, 1, 2))
	channels := e.result()[0]
	if e.n.Bool("bgr") {
		order := make([]int, channels)
		for i := range order {
			order[i] = channels - 1 - i
		}
		x = e.intermediate("Gather", ".bgr", []string{x, e.ints(e.out+".order", order...)}, onnxpb.IntAttr("axis",
			1))
	}
	x = e.intermediate("Mul", ".scaled", []string{x, e.initializer(e.takenNames.Free(e.out+".scale"),
		tensor.Scalar(e.n.Float("scale")))})
	for _, p := range []struct{ op, attr string }{{"Sub", "mean"}, {"Div", "std"}} {
		if l := e.n.Floats(p.attr); len(l) > 0 {
			c := e.initializer(e.takenNames.Free(e.out+"."+p.attr), tensor.Of(l, channels, 1, 1))
			x = e.intermediate(p.op, "."+p.op, []string{x, c})
		}
	}
	e.add("Cast", []string{x}, e.out, onnxpb.IntAttr("to", int(onnxpb.TensorProto_FLOAT)))
}
