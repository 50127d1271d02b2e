package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// A detector ends in nodes with results of any length: NonMaxSuppression, NonZero, or a TopK of many
// elements. A cut divides its file into a head, which becomes the graph of the model, and a tail, which
// the host computes for each sample (see tail.go). The tail has the nodes that the graph cannot
// compute, and all nodes that depend on them.

// openResults lists the operators that cause a cut, because their results have any length. A tail has
// one of these, or a GatherElements of computed indices, or begins with a TopK of many elements.
var openResults = []string{"NonMaxSuppression", "NonZero"}

// cut is a division of a file. Its lists have the nodes of the file by number.
type cut struct {
	graph    *onnxpb.GraphProto
	inTail   []bool          // nodes that only the tail has
	copied   []bool          // nodes of constants and shapes, which are in head and tail
	frontier []string        // values of the head that the tail reads
	varies   map[string]bool // values that depend on the input
}

// newCut divides a file before the nodes that compute the values in starts.
func newCut(g *onnxpb.GraphProto, starts map[string]bool) *cut {
	c := &cut{graph: g, inTail: make([]bool, len(g.Node)), copied: make([]bool, len(g.Node))}
	makers, varies := map[string]int{}, map[string]bool{}
	constants := map[string]bool{}
	for _, t := range g.Initializer {
		constants[t.Name] = true
	}
	for _, in := range g.Input {
		varies[in.Name] = !constants[in.Name]
	}
	follows := map[string]bool{}
	for i, n := range g.Node {
		changes := false
		decode.EachInput(n, func(name string) {
			c.inTail[i] = c.inTail[i] || follows[name]
			changes = changes || varies[name]
		})
		for _, name := range n.Output {
			c.inTail[i] = c.inTail[i] || starts[name]
		}
		for _, name := range n.Output {
			if name != "" {
				makers[name], follows[name] = i, c.inTail[i]
				varies[name] = c.inTail[i] || changes && n.OpType != "Shape" && n.OpType != "Size"
			}
		}
	}
	c.varies = varies
	c.addNeeds(makers, varies)
	return c
}

// addNeeds finds the values that the tail reads. Constants and shapes are computed in the tail again.
func (c *cut) addNeeds(makers map[string]int, varies map[string]bool) {
	need := map[string]bool{}
	for _, o := range c.graph.Output {
		need[o.Name] = true
	}
	take := func(name string) {
		if i, made := makers[name]; made && c.inTail[i] || name == "" {
			return
		} else if made && !varies[name] {
			c.copied[i] = true
		} else if varies[name] && !slices.Contains(c.frontier, name) {
			c.frontier = append(c.frontier, name)
		}
	}
	for _, o := range c.graph.Output {
		take(o.Name)
	}
	for i, n := range slices.Backward(c.graph.Node) {
		if c.inTail[i] || c.copied[i] {
			decode.EachInput(n, take)
		}
	}
}

// isHosted reports whether the host can and must compute the tail. It can if it supports all nodes. It
// must if results have any length, or if elements are picked by computed indices.
func (c *cut) isHosted(manyPicks map[string]bool) bool {
	needed := false
	for i, n := range c.graph.Node {
		if c.inTail[i] && !isHosted(n) {
			return false
		}
		needed = needed || c.inTail[i] && (hasOpenResults(n) || c.picksInRows(n) ||
			n.OpType == "TopK" && manyPicks[n.Output[0]])
	}
	return needed
}

// picksInRows reports whether a node picks elements of each row by indices that are computed from the input.
func (c *cut) picksInRows(n *onnxpb.NodeProto) bool {
	axis := int64(0)
	for _, a := range n.Attribute {
		if a.Name == "axis" {
			axis = a.GetI()
		}
	}
	return n.OpType == "GatherElements" && (axis > 0 || axis == -1) && len(n.Input) == 2 && c.varies[n.Input[1]]
}

// hasOpenResults reports whether a node, or one in its branches, has results of any length.
func hasOpenResults(n *onnxpb.NodeProto) bool {
	if slices.Contains(openResults, n.OpType) {
		return true
	}
	return slices.ContainsFunc(n.Attribute, func(a *onnxpb.AttributeProto) bool {
		return slices.ContainsFunc(a.GetG().GetNode(), hasOpenResults)
	})
}

func isHosted(n *onnxpb.NodeProto) bool {
	o := table[decode.Operator(n)]
	if o.fold == nil && o.structure == nil {
		return false
	}
	for _, a := range n.Attribute {
		if slices.ContainsFunc(a.GetG().GetNode(), func(n *onnxpb.NodeProto) bool {
			return n.OpType != "Constant" && !isHosted(n)
		}) {
			return false
		}
	}
	return true
}

// head returns the graph without the tail. Its outputs are the values that the tail reads.
func (c *cut) head() *onnxpb.GraphProto {
	g := c.selected(func(i int) bool { return !c.inTail[i] })
	g.Output = nil
	for _, name := range c.frontier {
		info := &onnxpb.ValueInfoProto{Name: name}
		for _, known := range c.graph.Output {
			if known.Name == name {
				info = known
			}
		}
		g.Output = append(g.Output, info)
	}
	return g
}

// tail returns the graph of the tail.
func (c *cut) tail() *onnxpb.GraphProto {
	return c.selected(func(i int) bool { return c.inTail[i] || c.copied[i] })
}

// selected returns the graph with the chosen nodes.
func (c *cut) selected(has func(i int) bool) *onnxpb.GraphProto {
	g := &onnxpb.GraphProto{Name: c.graph.Name, Input: c.graph.Input, Output: c.graph.Output,
		Initializer: c.graph.Initializer}
	for i, n := range c.graph.Node {
		if has(i) {
			g.Node = append(g.Node, n)
		}
	}
	return g
}
