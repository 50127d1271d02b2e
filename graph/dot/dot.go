// Package dot draws graphs in the language of Graphviz, or as SVG if Graphviz
// is installed.
//
// Use it to look at a graph; the command is bnctl inspect --graph.
package dot

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
)

// graphviz is the program that lays out drawings and writes them as SVG.
const graphviz = "dot"

// Check returns a *problem.Error if path does not end in .dot or .svg, or if it
// ends in .svg and Graphviz is not installed.
func Check(path string) error {
	if !isSVG(path) && !strings.EqualFold(filepath.Ext(path), ".dot") {
		return problem.New("graph", path, "graphs are drawn as .dot or .svg", "the ending picks the form")
	}
	if !isSVG(path) {
		return nil
	}
	if _, err := exec.LookPath(graphviz); err != nil {
		return problem.New("graph", path, "Graphviz draws it, and its program "+graphviz+" is not here",
			"install graphviz, or write a .dot and draw that elsewhere")
	}
	return nil
}

func isSVG(path string) bool { return strings.EqualFold(filepath.Ext(path), ".svg") }

// Draw writes a drawing of f to w, in the format of the ending of path.
func Draw(ctx context.Context, w io.Writer, path string, f *graph.Function) error {
	if !isSVG(path) {
		return write(w, f)
	}
	var text, words bytes.Buffer
	if err := write(&text, f); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, graphviz, "-Tsvg")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &text, w, &words
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s -Tsvg: %w: %s", graphviz, err, strings.TrimSpace(words.String()))
	}
	return nil
}

// write draws a function in the language of Graphviz: its inputs, nodes and
// outputs, and between them the values. State is not drawn.
func write(w io.Writer, f *graph.Function) error {
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
func edge(b *strings.Builder, f *graph.Function, makers map[graph.Value]string, v graph.Value, user string) {
	if from, ok := makers[v]; ok {
		fmt.Fprintf(b, "  %q -> %q [label=%q];\n", from, user, f.Values[v].Type.String())
	}
}
