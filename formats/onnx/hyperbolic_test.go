package onnx

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// TestHyperbolic compares hyperbolic functions with package math, to 2e-6 of each value.
// The arguments include small ones, where e^x - e^-x cancels, and large ones, where e^x or
// a square overflows.
func TestHyperbolic(t *testing.T) {
	x := []float32{0, 1e-30, 1e-6, 1e-3, 0.1, 0.2499, 0.25, 0.2501, 0.5, 0.9, 0.999, 1, 1.001, 2, 10, 80, 88.9,
		100, 9999, 10001, 1e20, 3e38}
	for _, v := range x {
		x = append(x, -v)
	}
	for name, f := range map[string]func(float64) float64{"Sinh": math.Sinh, "Cosh": math.Cosh,
		"Asinh": math.Asinh, "Acosh": math.Acosh, "Atanh": math.Atanh} {
		m := readModel(t, modelOf(17, 0, []int64{int64(len(x))}, nil, op(name, "x", "y"))).Model
		o := predict.Options{Fleet: fleet.Options{Devices: "ref"}, Batch: 1}
		p, err := predict.Open(context.Background(), m, o)
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Predict(context.Background(), tensor.Of(x, 1, len(x))) // in f32, unlike eval
		p.Close()
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range x {
			want, got := f(float64(v)), float64(out[0].F32()[i])
			if float64(float32(want)) == got || math.IsNaN(want) && math.IsNaN(got) {
				continue // equal infinities count, too
			}
			if !(math.Abs(got-want) <= 2e-6*math.Abs(want)) {
				t.Errorf("%s(%v): %v, want %v", name, v, got, want)
			}
		}
	}
}

// TestScatterRefuses: a scatter with constant indices is refused for an open batch. Updates
// of the right size but another shape are refused, too.
func TestScatterRefuses(t *testing.T) {
	for _, c := range []struct {
		batch int64
		nodes nodes
		want  string
	}{
		{0, nodes{ints("i", 1), floats("u", []int64{1}, 2), op("ScatterElements", "x i u", "y", intAttr("axis", 1))},
			"sets elements of every row by constants of its own"},
		{1, nodes{ints("i", 0, 1), floats("u", []int64{1}, 2), op("ScatterND", "x i u", "y")},
			"updates of the shape [1], want []"},
		{1, nodes{whole64("i", []int64{2, 2}, 0, 1, 0, 2), floats("u", []int64{2, 1}, 2, 3), op("ScatterND", "x i u", "y")},
			"updates of the shape [2 1], want [2]"},
		{1, nodes{whole64("i", []int64{1, 2}, 0, 1), floats("u", []int64{2, 1}, 2, 3),
			op("ScatterElements", "x i u", "y", intAttr("axis", 1))}, "updates of the shape [2 1], want [1 2]"},
		{1, nodes{floats("k", []int64{3}, 1, 2, 3), whole64("i", []int64{1, 1}, 2), floats("u", []int64{1, 1}, 4),
			op("ScatterND", "k i u", "r"), op("Add", "x r", "y")}, "updates f32[1,1], want f32[1]"},
		{1, nodes{whole64("i", []int64{1, 2, 2}, 0, 1, 0, 1), ints("zero", 0), ints("two", 2), ints("one", 1),
			op("Slice", "x zero two one", "u"), op("ScatterND", "x i u", "y")}, "sets place 1 twice"},
		{1, nodes{whole64("i", []int64{2, 2}, 0, 1, 0, 3), ints("zero", 0), ints("two", 2), ints("one", 1),
			op("Slice", "x zero two one", "u"), op("ScatterND", "x i u", "y")}, "only at constant places of one axis"},
		{1, nodes{whole64("i", []int64{1, 1, 2}, 0, 1), ints("zero", 0), ints("two", 2), ints("one", 1),
			op("Slice", "x zero two one", "u"), op("ScatterND", "x i u", "y")}, "updates of the shape [1 2], want [1 1]"},
	} {
		got := became(readModel(t, modelOf(13, c.batch, []int64{4}, nil, c.nodes...)))
		if !strings.Contains(got, c.want) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
