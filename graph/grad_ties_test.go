package graph_test

import (
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// At jumps of a derivative, and next to zeros, gradients equal those of PyTorch 1.13:
//
//	x = torch.tensor([[2., 2, 1, -1]], requires_grad=True); y = torch.tensor([[2., 1, 1, 3]])
//	torch.maximum(x, y).backward(s); torch.amax(x, 1).backward(); torch.prod(x, 1).backward(); x.pow(y)
func TestGradientTies(t *testing.T) {
	for _, c := range []struct {
		name string
		x    []float64
		make func(b *builder, x value) value
		want []float64
	}{
		{"max", []float64{2, 2, 1, -1}, func(b *builder, x value) value {
			return b.Op(graph.Max, "y", []value{x, other(b)})
		}, []float64{0.5, 1, 0.5, 0}},
		{"min", []float64{2, 2, 1, -1}, func(b *builder, x value) value {
			return b.Op(graph.Min, "y", []value{other(b), x})
		}, []float64{0.5, 0, 0.5, 1}},
		{"reduce_max", []float64{2, 2, 1, 2}, func(b *builder, x value) value {
			return b.Op(graph.ReduceMax, "y", []value{x}, "axes", []int{0})
		}, []float64{1. / 3, 1. / 3, 0, 1. / 3}},
		{"reduce_min", []float64{2, 2, 1, 1}, func(b *builder, x value) value {
			return b.Op(graph.ReduceMin, "y", []value{x}, "axes", []int{0}, "keep", true)
		}, []float64{0, 0, 0.5, 0.5}},
		{"reduce_prod", []float64{2, 3, 0, -1}, func(b *builder, x value) value {
			return b.Op(graph.ReduceProd, "y", []value{x}, "axes", []int{0})
		}, []float64{0, 0, -6, 0}},
		{"reduce_prod of two zeros", []float64{2, 0, 0, -1}, func(b *builder, x value) value {
			return b.Op(graph.ReduceProd, "y", []value{x}, "axes", []int{0})
		}, []float64{0, 0, 0, 0}},
		{"pow", []float64{-2, 0, -3, -1}, func(b *builder, x value) value {
			return b.Op(graph.Pow, "y", []value{x, other(b)})
		}, []float64{-4, 1, 1, 3}},
		{"pow of 0 to 0", []float64{0, 3, -1, 0}, func(b *builder, x value) value {
			zero := b.Op(graph.Affine, "zero", []value{other(b)}, "by", 0.0)
			return b.Op(graph.Pow, "y", []value{x, zero})
		}, []float64{0, 0, 0, 0}},
	} {
		var table []graph.State
		b := graph.NewBuilder("main", &table)
		x := rows(b, "x", 4)
		y := c.make(b, x)
		seed := b.Op(graph.Affine, "seed", []value{y}, "by", 0.0, "add", 1.0)
		grads, err := graph.Gradient(b, map[graph.Value]graph.Value{y: seed}, []graph.Value{x})
		if err != nil {
			t.Fatal(err)
		}
		b.Output("dx", grads[x], false)
		f := must(b.Function())(t)
		in := []tensor.Tensor{tensor.Of(c.x, 1, 4)}
		if len(f.Inputs) > 1 {
			in = append(in, tensor.Of([]float64{2, 1, 1, 3}, 1, 4))
		}
		if got := must(ref.Eval64(f, nil, in, []int{1}))(t)[0].F64(); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func other(b *builder) value { return rows(b, "other", 4) }
