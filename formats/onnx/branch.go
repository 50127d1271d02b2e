package onnx

import (
	"fmt"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

func init() {
	register(operators{
		"If": {attributes: accept(1, "else_branch then_branch"), refused: "a condition that is not constant",
			structure: func(r *reader, n *onnxpb.NodeProto) error { return subgraphs{r}.branch(n) }},
	})
}

// subgraphs reads the graphs inside nodes: the branches of If and the bodies of Loop.
type subgraphs struct{ *reader }

// branch reads an If with a constant condition. The nodes of the chosen branch become nodes
// of the graph and may read any value around them.
func (r subgraphs) branch(n *onnxpb.NodeProto) error {
	c, err := r.call(n)
	if err != nil {
		return err
	}
	if len(c.In) != 1 || !c.In[0].IsConstant() {
		return fmt.Errorf("whose condition is computed from the input is not supported")
	}
	if c.In[0].Tensor.Count() != 1 {
		return fmt.Errorf("its condition is %v, want one truth value", c.In[0].Tensor)
	}
	name := "else_branch"
	if c.In[0].Tensor.Bytes[0] != 0 {
		name = "then_branch"
	}
	a := c.Attribute(name)
	if a == nil || a.G == nil || len(a.G.Output) < len(n.Output) {
		return fmt.Errorf("has no %s with %d results", name, len(n.Output))
	}
	if err := r.subgraph(a.G); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	results := make([]node.Value, len(n.Output))
	for i := range n.Output {
		x, ok := r.values[a.G.Output[i].Name]
		if !ok {
			return fmt.Errorf("%s: nothing makes %.80q", name, a.G.Output[i].Name)
		}
		results[i] = x
	}
	r.leave(a.G)
	for i, out := range n.Output {
		if err := r.define(out, results[i]); out != "" && err != nil {
			return err
		}
	}
	return nil
}

// leave removes the names that a branch defined, because another branch may use them for other values.
func (r subgraphs) leave(g *onnxpb.GraphProto) {
	for _, p := range g.Initializer {
		delete(r.values, p.Name)
	}
	for _, n := range g.Node {
		for _, out := range n.Output {
			delete(r.values, out)
		}
	}
}

// subgraph reads the nodes of a branch.
func (r subgraphs) subgraph(g *onnxpb.GraphProto) error {
	for _, p := range g.Initializer {
		t, err := r.decoder.Initializer(p, r.external)
		if err != nil {
			return fmt.Errorf("tensor %.80q: %w", p.Name, err)
		}
		if err := r.define(p.Name, node.InFile(&t)); err != nil {
			return err
		}
	}
	for i, n := range g.Node {
		var err error
		if decode.Operator(n) == "Constant" && len(n.Output) == 1 {
			err = r.branchConstant(n)
		} else {
			err = r.node(n)
		}
		if err != nil {
			return fmt.Errorf("node %d (%.80s %.80s): %w", i, n.OpType, decode.First(n.Output, ""), err)
		}
	}
	return nil
}

// branchConstant stores the value of a Constant inside a branch.
func (r subgraphs) branchConstant(n *onnxpb.NodeProto) error {
	t, ok, err := r.decoder.Constant(n, r.external)
	if err != nil || !ok {
		return err
	}
	return r.define(t.Name, node.InFile(&t))
}
