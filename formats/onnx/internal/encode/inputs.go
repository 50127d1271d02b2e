package encode

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// inputs declares the inputs of the model.
func (w *writer) inputs() {
	if w.m.Fields == nil {
		for _, v := range w.f.Inputs {
			w.g.Input = append(w.g.Input, w.info(w.name(v), w.f.Values[v].Type))
		}
		return
	}
	w.fields()
}

// fields declares several inputs. A slice of the graph's input that is a field becomes that field, and
// so do its reshapes to the shape of the field. If another node reads the graph's input, the fields are
// concatenated for it.
func (w *writer) fields() {
	w.written = map[*graph.Node]bool{}
	var names []string
	at := 0
	for _, p := range w.m.Fields {
		name := w.field(p)
		n := tensor.Count(p.Shape)
		w.replaceSlices(p, name, at, at+n)
		names, at = append(names, name), at+n
	}
	if !w.readsPacked() {
		return
	}
	var flat []string
	for i, name := range names {
		flat = append(flat, w.add("Flatten", []string{name}, w.takenNames.Free(w.m.Fields[i].Name+".flat"),
			onnxpb.IntAttr("axis", 1)))
	}
	w.add("Concat", flat, w.name(w.f.Inputs[0]), onnxpb.IntAttr("axis", 1))
}

// field declares an input and returns the name of its values as f32.
func (w *writer) field(p models.Field) string {
	name := w.takenNames.Free(p.Name)
	w.g.Input = append(w.g.Input, w.info(name, graph.Type{Kind: graph.Rows, DType: p.DType, Shape: p.Shape}))
	if p.DType == tensor.F32 {
		return name
	}
	return w.add("Cast", []string{name}, w.takenNames.Free(name+".f32"),
		onnxpb.IntAttr("to", int(onnxpb.TensorProto_FLOAT)))
}

// replaceSlices gives slices of the input from begin to end the name of a field, if they have the shape
// of the field, or all their readers reshape them to it.
func (w *writer) replaceSlices(p models.Field, name string, begin, end int) {
	users := w.f.Users()
	for i := range w.f.Nodes {
		n := &w.f.Nodes[i]
		if !w.readsInput(n) || n.Op != graph.Slice || !slices.Equal(n.Ints("begin"), []int{begin}) ||
			!slices.Equal(n.Ints("end"), []int{end}) || slices.ContainsFunc(n.Ints("step"), isNotOne) {
			continue
		}
		if len(p.Shape) == 1 {
			w.names[n.Out[0]], w.written[n] = name, true
			continue
		}
		reshaped := func(k int) bool {
			r := &w.f.Nodes[k]
			return r.Op == graph.Reshape && slices.Equal(w.f.Values[r.Out[0]].Type.Shape, p.Shape)
		}
		if w.isResult(n.Out[0]) || slices.ContainsFunc(users[n.Out[0]], func(k int) bool { return !reshaped(k) }) {
			continue
		}
		w.written[n] = true
		for _, k := range users[n.Out[0]] {
			w.names[w.f.Nodes[k].Out[0]], w.written[&w.f.Nodes[k]] = name, true
		}
	}
}

func isNotOne(n int) bool { return n != 1 }

// readsInput reports whether n reads the input of the graph.
func (w *writer) readsInput(n *graph.Node) bool { return slices.Contains(n.In, w.f.Inputs[0]) }

// isResult reports whether v is an output.
func (w *writer) isResult(v graph.Value) bool {
	return slices.ContainsFunc(w.f.Outputs, func(o graph.Output) bool { return o.Value == v })
}

// readsPacked reports whether an output, or a node that is written, reads the graph's input.
func (w *writer) readsPacked() bool {
	for i := range w.f.Nodes {
		if n := &w.f.Nodes[i]; w.readsInput(n) && !w.written[n] {
			return true
		}
	}
	return w.isResult(w.f.Inputs[0])
}
