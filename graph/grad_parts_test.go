package graph_test

import (
	"testing"

	"github.com/bnctl/bnctl/graph"
)

// Gradients of slices that divide a value are concatenated. Gradients of other slices are added.
func TestGradientOfParts(t *testing.T) {
	type part struct{ begin, end []int }
	for _, c := range []struct {
		name         string
		parts        []part
		concats, add int
	}{
		{"halves, the last first", []part{{[]int{0, 2}, []int{4, 6}}, {[]int{0, 0}, []int{4, 2}}}, 1, 0},
		{"three", []part{{[]int{0, 0}, []int{1, 6}}, {[]int{1, 0}, []int{3, 6}}, {[]int{3, 0}, []int{4, 6}}}, 1, 0},
		{"a gap", []part{{[]int{0, 0}, []int{4, 2}}, {[]int{0, 3}, []int{4, 6}}}, 0, 1},
		{"one twice", []part{{[]int{0, 0}, []int{4, 6}}, {[]int{0, 0}, []int{4, 6}}}, 0, 1},
		{"all of an axis, but not of both", []part{{[]int{0, 0}, []int{3, 2}}, {[]int{0, 2}, []int{3, 6}}}, 0, 1},
		{"corners", []part{{[]int{0, 0}, []int{2, 3}}, {[]int{2, 3}, []int{4, 6}}}, 0, 1},
	} {
		var table []graph.State
		b := graph.NewBuilder("main", &table)
		x := rows(b, "x", 4, 6)
		seeds := map[value]value{}
		for _, p := range c.parts {
			y := b.Op(graph.Slice, b.UniqueName("part"), []value{x}, "begin", p.begin, "end", p.end)
			seeds[y] = b.Op(graph.Tanh, b.UniqueName("seed"), []value{y})
		}
		grads, err := graph.Gradient(b, seeds, []value{x})
		if err != nil {
			t.Fatal(err)
		}
		b.Output("dx", grads[x], false)
		count := map[graph.Op]int{}
		for _, n := range must(b.Function())(t).Nodes {
			count[n.Op]++
		}
		if count[graph.Concat] != c.concats || count[graph.Add] != c.add {
			t.Errorf("%s: %d concatenations and %d additions, want %d and %d", c.name, count[graph.Concat],
				count[graph.Add], c.concats, c.add)
		}
	}
}
