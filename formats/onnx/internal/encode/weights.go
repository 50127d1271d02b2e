package encode

import "github.com/bnctl/bnctl/graph"

// A weight may be computed from other weights, by the same operations as values with a batch axis.
// The nodes that compute it are written for a batch of 1. Their operands get a first axis of length
// 1, and a layer that uses the result removes it.

// isComputedWeight reports whether v is the result of a node with weights as its only operands.
func (w *writer) isComputedWeight(v graph.Value) bool {
	x := w.f.Values[v]
	return x.State == "" && x.Type.Kind == graph.Whole
}

// rowName returns the name of a weight with a first axis of length 1.
func (w *writer) rowName(v graph.Value) string {
	if v == graph.None {
		return ""
	}
	if name, ok := w.rows[v]; ok {
		return name
	}
	x := w.f.Values[v]
	if w.isComputedWeight(v) {
		w.rows[v] = w.takenNames.Free(x.Name + ".row")
	} else {
		w.rows[v] = w.reshaped(w.name(v), x.State+".row", append([]int{1}, x.Type.Shape...))
	}
	return w.rows[v]
}

// withoutAxis returns the name of a computed weight without its first axis.
func (w *writer) withoutAxis(v graph.Value) string {
	x := w.f.Values[v]
	return w.reshaped(w.rowName(v), x.Name, x.Type.Shape)
}

// reshaped adds a Reshape under an unused name.
func (w *writer) reshaped(operand, name string, shape []int) string {
	name = w.takenNames.Free(name)
	return w.add("Reshape", []string{operand, w.ints(name+".shape", shape...)}, name)
}
