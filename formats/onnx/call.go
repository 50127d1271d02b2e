package onnx

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// call adds one node of the file to the graph. After an error all further results are
// empty.
type call struct {
	*reader
	node.Node
	name  string // name of the first result, in the graph
	added string // name of a constant that is part of the result; see value
}

// nodeName returns the name of a node in the graph. It is derived from the weight, "features.0.conv"
// from "features.0.conv.weight", because exporters number results. Without a weight it is the name of
// the first result.
func nodeName(n *onnxpb.NodeProto) string {
	if len(n.Input) > 1 && (n.OpType == "Conv" || n.OpType == "BatchNormalization" || n.OpType == "Gemm") {
		if name, ok := strings.CutSuffix(n.Input[1], ".weight"); ok {
			return foreign.Clean(name, "node")
		}
	}
	if len(n.Output) > 0 {
		return foreign.Clean(n.Output[0], "node")
	}
	return "node"
}

// define sets the value of a name in the file.
func (r *reader) define(name string, x node.Value) error {
	if _, twice := r.values[name]; twice {
		return fmt.Errorf("makes %.80q a second time", name)
	}
	r.values[name] = x
	return nil
}

// node adds a node to the graph. Its name is the name of the first result, followed by a suffix.
func (c *call) node(op graph.Op, suffix string, operands []graph.Value, pairs ...any) graph.Value {
	if c.Err != nil {
		return graph.None
	}
	if c.nodeCount++; c.nodeCount > maxMade {
		c.Fail("makes more than %d nodes of the graph, with those before it", maxMade)
		return graph.None
	}
	v := c.g.Op(op, c.g.UniqueName(c.name+suffix), operands, pairs...)
	if v != graph.None && len(c.g.Type(v).Shape) >= tensor.MaxRank { // plus the batch axis
		c.Fail("makes a tensor of rank %d; at most %d are supported", len(c.g.Type(v).Shape)+1, tensor.MaxRank)
		return graph.None
	}
	return v
}
