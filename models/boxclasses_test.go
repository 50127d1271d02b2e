package models

import (
	"slices"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// TestClassesOfBoxes: the classes of data are matched with the classes of boxes, not with the first axis.
func TestClassesOfBoxes(t *testing.T) {
	for name, c := range map[string]struct {
		shapes map[string][]int
	}{
		"yolov8": {map[string][]int{"y": {7, 20}}},
		"yolov5": {map[string][]int{"y": {20, 8}}},
		"ssd":    {map[string][]int{"scores": {20, 4}, "boxes": {20, 4}}},
	} {
		var table []graph.State
		b := graph.NewBuilder("main", &table)
		x := b.Input("image", graph.Type{Kind: graph.Rows, DType: tensor.U8, Shape: []int{64, 96, 3}})
		x = b.Op(graph.Image, "pixels", []graph.Value{x}, "scale", 1., "mean", []float64(nil), "std", []float64(nil))
		x = b.Op(graph.Reshape, "flat", []graph.Value{x}, "shape", []int{3 * 64 * 96})
		for _, output := range []string{"scores", "boxes", "y"} {
			shape, ok := c.shapes[output]
			if !ok {
				continue
			}
			part := b.Op(graph.Slice, output+".flat", []graph.Value{x}, "begin", []int{0},
				"end", []int{tensor.Count(shape)})
			b.Output(output, b.Op(graph.Reshape, output, []graph.Value{part}, "shape", shape), false)
		}
		main, err := b.Function()
		if err != nil {
			t.Fatal(err)
		}
		m, err := WithBoxes(&Model{Graph: &graph.Graph{Name: "other", State: table, Main: main}}, name)
		if err != nil {
			t.Fatal(err)
		}
		match, err := m.MatchClasses("voc", []string{"a", "b", "c"})
		if err != nil || !slices.Equal(match.To, []int{0, 1, 2}) || m.BoxClasses(0) != 3 {
			t.Errorf("%s: %v, %v, %d classes", name, match.To, err, m.BoxClasses(0))
		}
		if _, err := m.MatchClasses("voc", []string{"a", "b", "c", "d"}); err == nil {
			t.Errorf("%s: four classes match three", name)
		}
	}
}
