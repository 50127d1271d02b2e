package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// outputs gives the results their names: an Identity each, so that values keep theirs, or what gives
// them the types that they have in the file that the model is of.
func (w *writer) outputs() {
	infos := w.m.Outputs()
	for k, o := range w.f.Outputs {
		t := w.f.Values[o.Value].Type
		if t.Kind != graph.Rows {
			w.fail("output %s is %v, want rows", o.Name, t)
		}
		w.typed(w.name(o.Value), o.Name, t.DType, infos[k].Type.DType)
		w.g.Output = append(w.g.Output, w.info(o.Name, infos[k].Type))
	}
	for _, o := range infos[len(w.f.Outputs):] {
		w.picked(o)
		w.g.Output = append(w.g.Output, w.info(o.Name, o.Type))
	}
}

// picked writes an output that is the place of the largest of another one.
func (w *writer) picked(o models.OutputInfo) {
	of := w.f.Outputs[o.Of()].Value
	at := w.add("ArgMax", []string{w.name(of)}, w.takenNames.Free(o.Name+".place"), intAttr("axis", 1),
		intAttr("keepdims", 0))
	if !slices.Equal(w.f.Values[of].Type.Shape[1:], o.Type.Shape) {
		shape := w.ints(o.Name+".shape", append([]int{0}, o.Type.Shape...)...)
		at = w.add("Reshape", []string{at, shape}, w.takenNames.Free(o.Name+".shaped"))
	}
	w.typed(at, o.Name, tensor.I64, o.Type.DType)
}

// typed writes x as an output of another type. Whole numbers of a byte are quantised by 1, which is read
// back: a Cast of what a byte does not hold differs between processors.
func (w *writer) typed(x, name string, is, want tensor.DType) {
	switch {
	case is == want:
		w.add("Identity", []string{x}, name)
	case is == tensor.F32 && (want == tensor.U8 || want == tensor.I8):
		zero := w.initializer(w.takenNames.Free(name+".zero"), tensor.New(want))
		w.add("QuantizeLinear", []string{x, w.scalar(name+".scale", 1), zero}, name)
	default:
		w.add("Cast", []string{x}, name, intAttr("to", int(number(want))))
	}
}
