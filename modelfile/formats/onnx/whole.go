package onnx

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// A file may compute along the first axis of its input, which is no batch then: a vector of features, a
// picture without a batch, four pictures that are compared. If it fixes all lengths, its sample is the
// whole input: an unbatched value, as those of a batch of 1 are; see unbatched.go.

// fixesInput reports whether the file has one input, all of whose lengths it fixes.
func (r *reader) fixesInput() bool {
	var in []*onnxpb.ValueInfoProto
	for _, v := range r.src.Input {
		if x, ok := r.values[v.Name]; !ok || !x.isConstant() {
			in = append(in, v)
		}
	}
	if len(in) != 1 {
		return false
	}
	shape := in[0].GetType().GetTensorType().GetShape()
	for _, n := range lengthsOf(shape.GetDim()) {
		if n == 0 {
			return false
		}
	}
	return shape != nil
}

// constantOutput makes an output that does not depend on the input the same in every row.
func (r *reader) constantOutput(name string) (graph.Value, error) {
	x, _, err := r.operand(name)
	if err != nil {
		return graph.None, err
	}
	n := &onnxpb.NodeProto{OpType: "Identity", Input: []string{name}, Output: []string{name}}
	c := &call{reader: r, n: n, name: nodeName(n), in: []value{x}}
	if x.c.DType == tensor.Bool {
		x.c = c.cast(x.c, tensor.F32)
	}
	shape := x.c.Shape
	if r.batch == 1 && len(shape) > 0 && shape[0] == 1 {
		shape = shape[1:]
	}
	t := c.toF32(x.c).Reshape(shape...)
	if c.err != nil {
		return graph.None, c.err
	}
	r.file.Find(name, "the output does not depend on the input; it is the same for every sample", "")
	v := c.everyRow(r.rowsInput, c.declare(name, graph.Constant, t), shape)
	if c.err == nil {
		c.err = r.g.Err()
	}
	return v, c.err
}

// inOrder returns nodes so that each stands behind those that make its operands, as the standard wants
// them and not all programs write them. Nodes that are in order, or that no order can help, stay.
func inOrder(nodes []*onnxpb.NodeProto) []*onnxpb.NodeProto {
	makes := map[string]int{}
	for i, n := range nodes {
		for _, name := range n.Output {
			if _, twice := makes[name]; name != "" && !twice {
				makes[name] = i
			}
		}
	}
	waits, readers, inOrder := make([]int, len(nodes)), make([][]int, len(nodes)), true
	for i, n := range nodes {
		eachInput(n, func(name string) {
			if k, ok := makes[name]; ok && k != i {
				waits[i]++
				readers[k] = append(readers[k], i)
				inOrder = inOrder && k < i
			}
		})
	}
	if inOrder {
		return nodes
	}
	var next []int
	for i := range nodes {
		if waits[i] == 0 {
			next = append(next, i)
		}
	}
	sorted := make([]*onnxpb.NodeProto, 0, len(nodes))
	for ; len(next) > 0; next = next[1:] {
		sorted = append(sorted, nodes[next[0]])
		for _, k := range readers[next[0]] {
			if waits[k]--; waits[k] == 0 {
				next = append(next, k)
			}
		}
	}
	if len(sorted) < len(nodes) {
		return nodes
	}
	return sorted
}
