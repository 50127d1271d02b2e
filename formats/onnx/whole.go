package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// The first axis of an input may not be a batch, and the file may compute along it: a
// vector of features, a picture without a batch, four pictures to compare. If all lengths
// are fixed, the sample is the whole input. It is an unbatched value, as in a file with a
// batch of 1; see unbatched.go.

// fixesInputs reports whether the file has inputs, and fixes all their lengths.
func (r *reader) fixesInputs() bool {
	in := border{r}.fileInputs()
	for _, v := range in {
		shape := v.GetType().GetTensorType().GetShape()
		if shape == nil || slices.Contains(lengthsOf(shape.Dim), 0) {
			return false
		}
	}
	return len(in) > 0
}

// constantOutput adds an output that does not depend on the input. It is the same in every row.
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
