package bn_test

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// statistic declares mean or variance of 3 channels.
func statistic(b *graph.Builder, name string, r graph.Role) graph.Value {
	return b.Declare(graph.State{Name: name, DType: tensor.F32, Shape: []int{3}, Role: r})
}

// rowsOf declares an input of 3 channels of 4x5.
func rowsOf(b *graph.Builder) graph.Value {
	return b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{3, 4, 5}})
}

func template(t *testing.T) *graph.Function {
	var table []graph.State
	b := graph.NewBuilder("main", &table)
	b.Op(graph.BatchNorm, "bn1", []graph.Value{rowsOf(b), statistic(b, "g", graph.Gamma),
		statistic(b, "b", graph.Beta),
		statistic(b, "m", graph.Mean), statistic(b, "v", graph.Variance)},
		"decay", 0.99, "variance", "biased", "cumulative", true, "eps", 1e-3)
	return finish(t, b)
}

// wrapped returns the graph that package parallel makes of template, with or without an all-reduce.
func wrapped(t *testing.T, sync bool) *graph.Function {
	var table []graph.State
	b := graph.NewBuilder("main", &table)
	x := rowsOf(b)
	m := b.Op(graph.Moments, "bn1.moments", []graph.Value{x})
	over, merged := "replica", m
	if sync {
		over, merged = "batch", b.Op(graph.AllReduce, "bn1.merged", []graph.Value{m}, "of", "moments")
	}
	b.Op(graph.Normalise, "bn1", []graph.Value{x, merged,
		statistic(b, "g", graph.Gamma), statistic(b, "b", graph.Beta)}, "over", over, "eps", 1e-3)
	b.Node(graph.Track, "", graph.Attrs{}.With("decay", 0.99).With("variance", "biased").With("cumulative",
		true), m, statistic(b, "m", graph.Mean), statistic(b, "v", graph.Variance))
	return finish(t, b)
}

func finish(t *testing.T, b *graph.Builder) *graph.Function {
	f, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestLayersOfTemplateAndWrappedGraphAreTheSame(t *testing.T) {
	want := bn.Layer{Name: "bn1", Mean: "m", Variance: "v", Channels: 3, Elements: 20, Decay: 0.99,
		Cumulative: true, Biased: true, Eps: 1e-3}
	for name, f := range map[string]*graph.Function{
		"template": template(t), "sync": wrapped(t, true), "replica": wrapped(t, false),
	} {
		got, err := bn.Layers(f)
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: layers %+v, error %v, want %+v", name, got, err, want)
		}
	}
}

func TestLayersRefusesTrackWithoutMoments(t *testing.T) {
	var table []graph.State
	b := graph.NewBuilder("main", &table)
	m := b.Input("m", graph.Type{Kind: graph.Whole, DType: tensor.F64, Shape: []int{7}})
	b.Node(graph.Track, "", nil, m, statistic(b, "mean", graph.Mean), statistic(b, "v", graph.Variance))
	if _, err := bn.Layers(finish(t, b)); err == nil || !strings.Contains(err.Error(),
		"does not come from moments") {
		t.Errorf("error %v", err)
	}
}
