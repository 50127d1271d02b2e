package onnx

import (
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// A file may compute along the first axis of its input, which is no batch then: a vector of features, a
// picture without a batch, four pictures that are compared. If it fixes all lengths, its sample is the
// whole input: an unbatched value, as those of a batch of 1 are; see unbatched.go.

// fixesInput reports whether the file has one input, all of whose lengths it fixes.
func (r *reader) fixesInput() bool {
	var in []*onnxpb.ValueInfoProto
	for _, v := range r.src.Input {
		if x, ok := r.values[v.Name]; !ok || !x.IsConstant() {
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
	if element.HoldsBatch(x.Tensor) {
		return graph.None, node.ErrLength
	}
	n := &onnxpb.NodeProto{OpType: "Identity", Input: []string{name}, Output: []string{name}}
	c := &call{reader: r, Node: r.nodeOf(n), name: nodeName(n)}
	c.In = []node.Value{x}
	if x.Tensor.DType == tensor.Bool {
		x.Tensor = fold.CastTo(&c.Node, x.Tensor, tensor.F32)
	}
	shape := x.Tensor.Shape
	if r.shared.Batch == 1 && len(shape) > 0 && shape[0] == 1 {
		shape = shape[1:]
	}
	t := c.ToF32(x.Tensor).Reshape(shape...)
	if c.Err != nil {
		return graph.None, c.Err
	}
	r.file.Find(name, "the output does not depend on the input; it is the same for every sample", "")
	v := c.everyRow(r.rowsInput, c.declare(name, graph.Constant, t), shape)
	if c.Err == nil {
		c.Err = r.g.Err()
	}
	return v, c.Err
}
