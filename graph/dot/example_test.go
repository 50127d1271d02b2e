package dot_test

import (
	"context"
	"log"
	"os"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/graph/dot"
)

// A drawing in the language of Graphviz. For a path that ends with .svg, Draw calls the Graphviz
// program dot, which makes a picture.
func ExampleDraw() {
	g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "tiny"
func main(x rows f32[4]) {
  y = relu(x)
  return y rows = y
}`))
	if err != nil {
		log.Fatal(err)
	}
	if err := dot.Draw(context.Background(), os.Stdout, "tiny.dot", g.Main); err != nil {
		log.Fatal(err)
	}
	// Output:
	// digraph "main" {
	//   rankdir=TB;
	//   node [shape=box, fontname="sans-serif"];
	//   "input x" [shape=oval, label="x"];
	//   "node 0" [label="y\nrelu"];
	//   "input x" -> "node 0" [label="rows f32[4]"];
	//   "output y" [shape=oval, label="y"];
	//   "node 0" -> "output y" [label="rows f32[4]"];
	// }
}
