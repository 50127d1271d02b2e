package encode

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// layerNormSince is the first operator set with LayerNormalization.
const layerNormSince = 17

// filled adds a constant of n-dimensional shape with all elements equal to v.
func (w *writer) filled(name string, v float32, shape ...int) string {
	t := tensor.New(tensor.F32, shape...)
	for i := range t.F32() {
		t.F32()[i] = v
	}
	return w.initializer(w.takenNames.Free(name), t)
}

// operand returns the name of operand i, or "" if it is absent.
func (e *encoding) operand(i int) string {
	if i >= len(e.in) {
		return ""
	}
	return e.in[i]
}

// encodeLayerNorm writes LayerNormalization if the operator set has it and the axes are the
// last ones; otherwise it writes the operations that define it.
func encodeLayerNorm(e *encoding) {
	axes, rank := e.n.Ints("axes"), len(e.shape(0))
	behind := axes[0] + len(axes)
	if e.opset >= layerNormSince && behind == rank {
		scale := e.operand(1)
		if scale == "" {
			scale = e.filled(e.out+".ones", 1, e.shape(0)[axes[0]:]...)
		}
		e.in = []string{e.in[0], scale, e.operand(2)}
		e.is("LayerNormalization", onnxpb.IntAttr("axis", axes[0]+1), onnxpb.FloatAttr("epsilon", e.n.Float("eps")))
		return
	}
	for i := range axes {
		axes[i]++
	}
	mean := func(suffix, x string) string {
		return e.intermediate("ReduceMean", suffix, []string{x}, onnxpb.IntsAttr("axes", axes...),
			onnxpb.IntAttr("keepdims", 1))
	}
	centred := e.intermediate("Sub", ".centred", []string{e.in[0], mean(".mean", e.in[0])})
	variance := mean(".variance", e.intermediate("Mul", ".squares", []string{centred, centred}))
	sum := e.intermediate("Add", ".sum", []string{variance, e.scalar(e.out+".eps", e.n.Float("eps"))})
	e.scaled("Div", []string{centred, e.intermediate("Sqrt", ".std", []string{sum})}, rank-behind)
}

// scaled adds a node, multiplies its result by operand 1, and adds operand 2, if these are present. The
// operands get additional axes of length 1 at their ends.
func (e *encoding) scaled(op string, in []string, extraAxes int) {
	for i, then := range []string{"Mul", "Add"} {
		w := e.operand(1 + i)
		if w == "" {
			continue
		}
		if extraAxes > 0 {
			shape := slices.Concat(e.shape(1+i), slices.Repeat([]int{1}, extraAxes))
			w = e.intermediate("Reshape", ".all", []string{w, e.ints(e.out+".shape", shape...)})
		}
		op, in = then, []string{e.intermediate(op, ".part", in), w}
	}
	e.add(op, in, e.out)
}

// encodeGroupNorm writes an InstanceNormalization of the channels, or of the groups
// between two Reshapes.
func encodeGroupNorm(e *encoding) {
	s, groups, eps := e.shape(0), e.n.Int("groups"), onnxpb.FloatAttr("epsilon", e.n.Float("eps"))
	scale, bias := e.operand(1), e.operand(2)
	whole := groups == s[0] && len(s) > 1
	if !whole || scale == "" {
		scale = e.filled(e.out+".ones", 1, groups)
	}
	if !whole || bias == "" {
		bias = e.filled(e.out+".zeros", 0, groups)
	}
	if whole {
		e.in = []string{e.in[0], scale, bias}
		e.is("InstanceNormalization", eps)
		return
	}
	split := e.intermediate("Reshape", ".groups", []string{e.in[0], e.ints(e.out+".split", 0, groups, -1)})
	normed := e.intermediate("InstanceNormalization", ".normed", []string{split, scale, bias}, eps)
	e.scaled("Reshape", []string{normed, e.ints(e.out+".whole", append([]int{0}, s...)...)}, len(s)-1)
}
