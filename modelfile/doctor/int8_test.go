package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// A channel of zeros is reported as dead. A channel with a largest weight of 15 steps uses too few
// steps, and 16 are enough.
func TestWeightsOfBytes(t *testing.T) {
	weight := tensor.New(tensor.I8, 4, 3)
	copy(tensor.View[int8](weight), []int8{0, 0, 0, 1, -15, 2, -16, 0, 0, -128, 127, 0})
	state := map[string]tensor.Tensor{"fc.weight": weight, "fc.bias": tensor.New(tensor.I32, 4),
		"fc.by": tensor.Of([]float32{1, 1, 1, 1}, 4)}
	var table []graph.State
	b := graph.NewBuilder("main", &table)
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{3}})
	in := []graph.Value{b.Op(graph.Quantize, "q", []graph.Value{x}, "scale", 1.0)}
	for _, name := range []string{"fc.weight", "fc.bias", "fc.by"} {
		w := state[name]
		in = append(in, b.Declare(graph.State{Name: name, DType: w.DType, Shape: w.Shape, Role: graph.Weight}))
	}
	b.Output("logits", b.Op(graph.DenseInt8, "fc", in, "float", true), false)
	main, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	m := &models.Model{Architecture: "bytes", Graph: &graph.Graph{Name: "bytes", State: table, Main: main},
		State: state}
	found := ExamineModel("m.bnm", m).Findings()
	if len(found) != 2 {
		t.Fatalf("findings are %v, want 2", found)
	}
	for i, want := range []string{"1 of 4 channels dead",
		"the weights of 1 of 4 channels use fewer than 16 of 127 steps"} {
		if f := found[i]; f.Layer != "fc" || !strings.HasPrefix(f.Problem, want) ||
			!slices.Equal(f.Channels, []int{i}) || f.Severity != "warning" {
			t.Errorf("finding %d is %+v, want %q", i, f, want)
		}
	}
}
