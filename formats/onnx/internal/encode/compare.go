package encode

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
)

// encodeBinary writes an operation of two operands that broadcast.
func encodeBinary(e *encoding) {
	e.raise()
	e.is(map[graph.Op]string{graph.Add: "Add", graph.Sub: "Sub", graph.Mul: "Mul", graph.Div: "Div",
		graph.Max: "Max", graph.Min: "Min", graph.Pow: "Pow"}[e.n.Op])
}

// raise inserts axes of length 1 after the batch of an operand with fewer axes, so that the
// operands broadcast.
func (e *encoding) raise() {
	rank := len(e.result())
	for i, v := range e.n.In {
		t := e.f.Values[v].Type
		if more := rank - len(t.Shape); more > 0 && e.isRows(i) {
			shape := append([]int{0}, slices.Repeat([]int{1}, more)...)
			e.in[i] = e.intermediate("Reshape", ".raised", []string{e.in[i],
				e.ints(e.out+".shape", append(shape, t.Shape...)...)})
		}
	}
}

// zero adds a second operand of zero if it is absent.
func (e *encoding) zero(n int) {
	if len(e.in) < n {
		e.in = append(e.in, e.scalar(e.out+".zero", 0))
	}
}

// comparisonOps has the operators for comparisons. Some comparisons have no operator.
var comparisonOps = map[string]string{"equal": "Equal", "greater": "Greater",
	"greater_equal": "GreaterOrEqual",
	"less":          "Less", "less_equal": "LessOrEqual"}

// encodeCompare writes a comparison, and casts its truth values to floats.
func encodeCompare(e *encoding) {
	e.raise()
	e.zero(2)
	of := e.n.Text("of")
	if op, ok := comparisonOps[of]; ok {
		e.floats(e.intermediate(op, ".truth", e.in))
		return
	}
	e.floats(e.intermediate("Not", ".truth", []string{e.intermediate("Equal", ".equal", e.in)}))
}

// floats casts truth values to the result.
func (e *encoding) floats(truth string) {
	e.add("Cast", []string{truth}, e.out, onnxpb.IntAttr("to", int(onnxpb.TensorProto_FLOAT)))
}

func encodeWhere(e *encoding) {
	e.raise()
	e.zero(3)
	e.in[0] = e.intermediate("Cast", ".truth", []string{e.in[0]}, onnxpb.IntAttr("to",
		int(onnxpb.TensorProto_BOOL)))
	e.is("Where")
}

func encodeRound(e *encoding) {
	e.is(map[string]string{"even": "Round", "floor": "Floor", "ceil": "Ceil"}[e.n.Text("mode")])
}
