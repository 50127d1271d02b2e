package ref_test

import (
	"math"
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// TestEval64DoesNotRound computes (x + w)*w summed over rows, reduced, with
// operands that f32 cannot hold.
func TestEval64DoesNotRound(t *testing.T) {
	var table []graph.State
	b := graph.NewBuilder("f", &table)
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{2}})
	w := b.Declare(graph.State{Name: "w", DType: tensor.F32, Shape: []int{2}, Role: graph.Weight})
	y := b.Op(graph.Mul, "product", []graph.Value{b.Op(graph.Add, "sum", []graph.Value{x, w}), w})
	total := b.Op(graph.AllReduce, "total", []graph.Value{b.Op(graph.SumRows, "rows", []graph.Value{y})})
	b.Output("total", total, false)
	f, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	values := []float64{1. / 3, math.Pi, 1e-9, -math.E, 7. / 9, 1e9 + 0.1}
	weights := []float64{1. / 7, -2. / 3}
	out, err := ref.Eval64(f, map[string]tensor.Tensor{"w": tensor.Of(weights, 2)},
		[]tensor.Tensor{tensor.Of(values, 3, 2)}, []int{2, 1})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, 2)
	for i, v := range values {
		want[i%2] += (v + weights[i%2]) * weights[i%2]
	}
	if err := tensor.Close(out[0], tensor.Of(want, 2), tensor.Tolerance{Relative: 1e-15}); err != nil {
		t.Error(err)
	}
	if _, err := ref.Eval64(f, nil, []tensor.Tensor{tensor.Of(values, 3, 2)}, []int{2, 1}); err == nil {
		t.Error("no error without state")
	}
	if _, err := ref.Eval64(f, nil, []tensor.Tensor{tensor.New(tensor.F32, 3, 2)}, []int{2, 1}); err == nil {
		t.Error("no error for an f32 input")
	}
}
