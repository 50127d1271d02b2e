package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/bnctl/bnctl/graph"
)

// writeDot draws a function in the language of Graphviz: its inputs, nodes
// and outputs, and between them the values. State is not drawn.
func writeDot(w io.Writer, f *graph.Function) error {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  rankdir=TB;\n  node [shape=box, fontname=\"sans-serif\"];\n", f.Name)
	makers := map[graph.Value]string{}
	for _, v := range f.Inputs {
		makers[v] = "input " + f.Values[v].Name
		fmt.Fprintf(&b, "  %q [shape=oval, label=%q];\n", makers[v], f.Values[v].Name)
	}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		id := fmt.Sprintf("node %d", i)
		fmt.Fprintf(&b, "  %q [label=%q];\n", id, f.NodeName(n)+"\n"+n.Op.String())
		for _, v := range n.In {
			if v != graph.None {
				edge(&b, f, makers, v, id)
			}
		}
		for _, v := range n.Out {
			makers[v] = id
		}
	}
	for _, o := range f.Outputs {
		id := "output " + o.Name
		fmt.Fprintf(&b, "  %q [shape=oval, label=%q];\n", id, o.Name)
		edge(&b, f, makers, o.Value, id)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// edge draws the value v from where it is made to where it is used.
func edge(b *strings.Builder, f *graph.Function, makers map[graph.Value]string, v graph.Value, to string) {
	if from, ok := makers[v]; ok {
		fmt.Fprintf(b, "  %q -> %q [label=%q];\n", from, to, f.Values[v].Type.String())
	}
}
