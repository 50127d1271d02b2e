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
	c := &call{reader: r, Node: r.nodeOf(n), name: nodeName(n)}
	c.in = []value{x}
	if x.c.DType == tensor.Bool {
		x.c = castConstant(&c.Node, x.c, tensor.F32)
	}
	shape := x.c.Shape
	if r.shared.batch == 1 && len(shape) > 0 && shape[0] == 1 {
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
