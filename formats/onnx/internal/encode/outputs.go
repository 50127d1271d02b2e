package encode

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// outputNames returns the names of the outputs of the file.
func (w *writer) outputNames() (names []string) {
	if w.suppress != nil {
		return []string{boxesName, scoresName, labelsName}
	}
	for _, o := range w.m.Outputs() {
		names = append(names, o.Name)
	}
	return names
}

// outputs writes the results. Each result gets an Identity, so that values keep their names, or a
// conversion to its type in the file that the model was read from.
func (w *writer) outputs() {
	for _, o := range w.m.Outputs() {
		v := w.f.Outputs[o.Of].Value
		t := w.f.Values[v].Type
		if t.Kind != graph.Rows {
			w.fail("output %s is %v, want rows", o.Name, t)
		}
		if o.Picked {
			w.picked(o)
		} else {
			w.typed(w.name(v), o.Name, t.DType, o.Type.DType)
		}
		w.g.Output = append(w.g.Output, w.info(o.Name, o.Type))
	}
}

// picked writes an output that is the index of the largest element of another output.
func (w *writer) picked(o models.OutputInfo) {
	of := w.f.Outputs[o.Of].Value
	at := w.add("ArgMax", []string{w.name(of)}, w.takenNames.Free(o.Name+".place"), onnxpb.IntAttr("axis", 1),
		onnxpb.IntAttr("keepdims", 0))
	if !slices.Equal(w.f.Values[of].Type.Shape[1:], o.Type.Shape) {
		shape := w.ints(o.Name+".shape", append([]int{0}, o.Type.Shape...)...)
		at = w.add("Reshape", []string{at, shape}, w.takenNames.Free(o.Name+".shaped"))
	}
	w.typed(at, o.Name, tensor.I64, o.Type.DType)
}

// castBounds has the smallest and the largest float32 that a Cast by way of i64 converts to the same
// number on all processors.
var castBounds = map[tensor.DType][2]float32{tensor.I16: {math.MinInt16, math.MaxInt16},
	tensor.U16: {0, math.MaxUint16}, tensor.U32: {0, 0xffffff00}, tensor.U64: {0, 0x7fffff8000000000}}

// typed writes x as an output of another type. Integers of one byte are quantised with scale 1, because
// this package can read that again. Other values are clipped first, because the result of a Cast out of
// range depends on the processor.
func (w *writer) typed(x, name string, is, want tensor.DType) {
	switch {
	case is == want:
		w.add("Identity", []string{x}, name)
	case is == tensor.F32 && (want == tensor.U8 || want == tensor.I8):
		zero := w.initializer(w.takenNames.Free(name+".zero"), tensor.New(want))
		w.add("QuantizeLinear", []string{x, w.scalar(name+".scale", 1), zero}, name)
	default:
		if bounds, ok := castBounds[want]; ok && is == tensor.F32 {
			least := w.scalar(name+".min", float64(bounds[0]))
			most := w.scalar(name+".max", float64(bounds[1]))
			x = w.add("Clip", []string{x, least, most}, w.takenNames.Free(name+".cut"))
			i64 := onnxpb.IntAttr("to", int(onnxpb.Number(tensor.I64)))
			x = w.add("Cast", []string{x}, w.takenNames.Free(name+".whole"), i64)
		}
		w.add("Cast", []string{x}, name, onnxpb.IntAttr("to", int(onnxpb.Number(want))))
	}
}
