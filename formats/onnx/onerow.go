package onnx

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// An exporter that fixes the batch repeats a class token for each row: the first axis of the constant
// is the batch, and its rows are equal. This package uses one of the rows.

// takeOneRow replaces a constant by one of its rows, if it has a row for each sample of a
// fixed batch and all are equal.
func (c *call) takeOneRow(op string) {
	if c.Batch < 2 || c.Unbatched || !table[op].traits.has(alignsBatch) {
		return
	}
	rank := -1
	for _, x := range c.In {
		if !x.IsConstant() && x.V != graph.None {
			rank = max(rank, len(c.ShapeOf(x))+1)
		}
	}
	for i, x := range c.In {
		if c.Has(i) && x.IsConstant() && len(x.Tensor.Shape) == rank && x.Tensor.Shape[0] == int(c.Batch) &&
			hasEqualRows(x.Tensor) {
			c.setOneRow(i)
		}
	}
}

// hasEqualRows reports whether a tensor has the same elements at each index of its first axis.
func hasEqualRows(t tensor.Tensor) bool {
	n := len(t.Bytes) / t.Shape[0]
	for k := 1; k < t.Shape[0]; k++ {
		if !slices.Equal(t.Bytes[:n], t.Bytes[k*n:(k+1)*n]) {
			return false
		}
	}
	return len(t.Bytes) > 0
}

// setOneRow replaces constant i by its first row. If the rows repeat another constant, which may be a
// parameter, that constant becomes the operand.
func (c *call) setOneRow(i int) {
	name := c.Proto.Input[i]
	from := c.repeatedBy(name)
	if from == "" {
		t := c.In[i].Tensor
		from = name + ".row"
		one := tensor.New(t.DType, append([]int{1}, t.Shape[1:]...)...)
		copy(one.Bytes, t.Bytes)
		c.values[from], c.initial[from], c.sources[from] = node.Constant(one), c.initial[name], c.sourceOf(name)
	}
	c.Proto = proto.Clone(c.Proto).(*onnxpb.NodeProto)
	c.Proto.Input[i], c.In[i] = from, c.values[from]
}

// repeatedBy returns the constant with one row that an Expand or a Tile repeats to make the given
// constant, or "".
func (c *call) repeatedBy(name string) string {
	for _, n := range c.src.Node {
		if (n.OpType == "Expand" || n.OpType == "Tile") && slices.Contains(n.Output, name) {
			x, ok, err := c.operand(n.Input[0])
			if err == nil && ok && x.IsConstant() && slices.Equal(x.Tensor.Shape[:1], []int{1}) &&
				slices.Equal(x.Tensor.Shape[1:], c.values[name].Tensor.Shape[1:]) {
				return n.Input[0]
			}
		}
	}
	return ""
}
