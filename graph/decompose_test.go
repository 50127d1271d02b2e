package graph_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
)

// decomposeCases lists gradCases by name, and operations without a gradient.
var decomposeCases = append(slices.Clone(gradCases),
	gradCase{"softmax_grad", func(b *builder) value {
		y := b.Op(graph.Softmax, "y", []value{rows(b, "x", 3, 4)}, "axis", 1)
		return b.Op(graph.SoftmaxGrad, "dx", []value{y, rows(b, "dy", 3, 4)}, "axis", 1)
	}},
	gradCase{"log_softmax_grad", func(b *builder) value {
		y := b.Op(graph.LogSoftmax, "y", []value{rows(b, "x", 3, 4)})
		return b.Op(graph.LogSoftmaxGrad, "dx", []value{y, rows(b, "dy", 3, 4)})
	}},
	gradCase{"layer_norm_grad", func(b *builder) value {
		return b.Op(graph.LayerNormGrad, "dx", []value{rows(b, "x", 3, 4), rows(b, "dy", 3, 4)}, "axes", []int{1})
	}},
	gradCase{"group_norm_grad", func(b *builder) value {
		return b.Op(graph.GroupNormGrad, "dx", []value{rows(b, "x", 4, 3), rows(b, "dy", 4, 3)}, "groups", 2)
	}},
	gradCase{"global_avg_pool_grad", func(b *builder) value {
		return b.Op(graph.GlobalAvgPoolGrad, "dx", []value{rows(b, "dy", 3, 1, 1)}, "size", []int{4, 2})
	}},
	gradCase{"channel_sum", func(b *builder) value {
		return b.Op(graph.ChannelSum, "db", []value{rows(b, "dy", 3, 2, 2)})
	}},
	gradCase{"channel_sum rank 1", func(b *builder) value {
		return b.Op(graph.ChannelSum, "db", []value{rows(b, "dy", 3)})
	}},
	gradCase{"slice_grad", func(b *builder) value {
		return b.Op(graph.SliceGrad, "dx", []value{rows(b, "dy", 2, 3)},
			"begin", []int{1, 0}, "end", []int{3, 3}, "size", []int{4, 3})
	}},
	gradCase{"take_grad", func(b *builder) value {
		return b.Op(graph.TakeGrad, "dx", []value{rows(b, "dy", 2, 6)}, "axis", 1, "index", []int{0, 2, 4, 4, 3, 0},
			"size", []int{2, 5})
	}},
	gradCase{"upsample whole", func(b *builder) value {
		return b.Op(graph.Upsample, "y", []value{rows(b, "x", 2, 2, 3)}, "size", []int{6, 6})
	}},
	gradCase{"conv_transpose plain", func(b *builder) value {
		return b.Op(graph.ConvTranspose, "y",
			[]value{rows(b, "x", 2, 2, 3), state(b, "w", graph.Weight, 2, 1, 2, 2)})
	}},
)

// TestDecompose evaluates functions as they are and decomposed.
func TestDecompose(t *testing.T) {
	seen := map[graph.Op]bool{}
	for _, c := range decomposeCases {
		t.Run(c.name, func(t *testing.T) {
			p, d := plain(t, c)
			ops := decomposable(d.forward)
			q, err := graph.Decompose(p, ops)
			if err != nil {
				if !strings.Contains(err.Error(), "has no decomposition") || !strings.HasPrefix(c.name, "upsample") {
					t.Fatal(err)
				}
				return
			}
			got := q.Functions[0]
			if left := decomposable(got); len(left) > 0 {
				t.Errorf("%v are left", left)
			}
			for _, op := range ops {
				seen[op] = true
			}
			if err := q.Check(); err != nil {
				t.Fatal(err)
			}
			x := must(ref.Eval64(d.forward, d.state, d.inputs, rowsOfReplicas))(t)[0].F64()
			y := must(ref.Eval64(got, d.state, d.inputs, rowsOfReplicas))(t)[0].F64()
			for i := range x {
				if !(math.Abs(x[i]-y[i]) <= 1e-6) { // constants are rounded to f32
					t.Errorf("element %d: got %g, want %g", i, y[i], x[i])
				}
			}
		})
	}
	for _, op := range graph.Ops() {
		if op.Decomposes() && !seen[op] {
			t.Errorf("no case decomposes %v", op)
		}
	}
}

// plain returns c as a program and with a point.
func plain(t *testing.T, c gradCase) (*graph.Program, *derivative) {
	t.Helper()
	p := &graph.Program{Name: c.name}
	b := graph.NewBuilder(graph.Predict, &p.State)
	b.Output("y", c.build(b), false)
	d := &derivative{forward: must(b.Function())(t)}
	d.draw(p.State, graph.Type{Kind: graph.Whole, DType: 1})
	p.Functions = []*graph.Function{d.forward}
	return p, d
}

func decomposable(f *graph.Function) []graph.Op {
	var ops []graph.Op
	for _, n := range f.Nodes {
		if n.Op.Decomposes() {
			ops = append(ops, n.Op)
		}
	}
	return ops
}

func TestDecomposeRefuses(t *testing.T) {
	p, _ := plain(t, unary(graph.Tanh))
	_, err := graph.Decompose(p, []graph.Op{graph.Tanh})
	if err == nil || !strings.Contains(err.Error(),
		"program tanh: function predict: node y: tanh has no decomposition") {
		t.Errorf("got %v", err)
	}
}
