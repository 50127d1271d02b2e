package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
)

// A linear layer along the last of several axes is exported as a MatMul and an Add. Here it is one
// dense layer with a bias.

// biasBehind returns the bias of a node: a constant of n elements that is added to the node's result.
// Nothing else may read the result. It returns None without a bias.
func (c *call) biasBehind(n int) graph.Value {
	if c.Err != nil || c.Opset < 7 || len(c.Proto.Output) == 0 {
		return graph.None
	}
	readers := c.readersOf(c.Proto.Output[0])
	if len(readers) != 1 || decode.Operator(readers[0]) != "Add" || len(readers[0].Input) != 2 {
		return graph.None
	}
	name := readers[0].Input[0]
	if name == c.Proto.Output[0] {
		name = readers[0].Input[1]
	}
	x, ok, err := c.operand(name)
	if err != nil || !ok || !x.IsConstant() || !slices.Equal(x.Tensor.Shape, []int{n}) ||
		!element.IsFloat(x.Tensor.DType) {
		return graph.None
	}
	if c.forTraining && c.lifts[name] != nil {
		return graph.None // not a bias: a node of the graph adds it
	}
	c.added = name
	return c.declare(name, graph.Bias, c.ToF32(x.Tensor))
}

// endsInOutput reports whether a name leads to an output, only through operators that may follow an
// ArgMax. A Cast to truth values is not such an operator, because it changes the numbers.
func (r *reader) endsInOutput(name string, steps int) bool {
	readers := r.readersOf(name)
	if len(readers) > 0 && steps == 0 {
		return false
	}
	for _, n := range readers {
		ends := n.OpType == "" || len(n.Output) == 1 && table[n.OpType].traits.has(followsArgMax) &&
			!castsToTruth(n)
		if !ends || n.OpType != "" && !r.endsInOutput(n.Output[0], steps-1) {
			return false
		}
	}
	return true
}

func castsToTruth(n *onnxpb.NodeProto) bool {
	return n.OpType == "Cast" && slices.ContainsFunc(n.Attribute, func(a *onnxpb.AttributeProto) bool {
		return a.Name == "to" && a.GetI() == int64(onnxpb.TensorProto_BOOL)
	})
}

// readersOf returns the nodes that read a name. An output counts as a node without an operator. If the
// file has branches, readersOf returns nothing: the readers are unknown.
func (r *reader) readersOf(name string) []*onnxpb.NodeProto {
	if r.readers != nil {
		return r.readers[name]
	}
	r.readers = map[string][]*onnxpb.NodeProto{}
	for _, n := range r.src.Node {
		if n.OpType == "If" || n.OpType == "Loop" || n.OpType == "Scan" {
			r.readers = map[string][]*onnxpb.NodeProto{}
			return nil
		}
		for _, in := range n.Input {
			r.readers[in] = append(r.readers[in], n)
		}
	}
	for _, o := range r.src.Output {
		r.readers[o.Name] = append(r.readers[o.Name], &onnxpb.NodeProto{})
	}
	return r.readers[name]
}
