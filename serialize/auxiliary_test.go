package serialize

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Strip removes an auxiliary head and its state, and counts them. Unwrap keeps them for further
// training.
func TestStripTakesOffTheAuxiliaryHead(t *testing.T) {
	c, want := tinyCheckpoint(t), tinyModel(t)
	b := graph.Extend(c.Graph.Main, &c.Graph.State)
	slope := b.Declare(graph.State{Name: "aux.slope", DType: tensor.F32, Shape: []int{2}, Role: graph.Weight,
		Init: graph.Init{Rule: "ones"}})
	bn := c.Graph.Main.Outputs[0].Value
	b.Output(graph.Auxiliary, b.Op(graph.Prelu, "second", []graph.Value{bn, slope}), false)
	var err error
	if c.Graph.Main, err = b.Function(); err != nil {
		t.Fatal(err)
	}
	c.State["aux.slope"] = tensor.Of([]float32{1, 2}, 2)
	got, removed, err := Strip(c)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("template\n%s\nwant\n%s", got.Graph.Text(), want.Graph.Text())
	}
	if names := strings.Join(removed.Auxiliary, " "); names != "aux.slope" {
		t.Errorf("removed %q", names)
	}
	whole, err := Unwrap(c)
	if err != nil || len(whole.Graph.Main.Outputs) != 2 || len(whole.State) != len(want.State)+1 {
		t.Errorf("%+v, %v", whole, err)
	}
}
