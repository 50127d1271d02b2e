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

// TestHyperbolic: to 2e-6 of the value itself, next to 0 too, where e^x - e^-x cancels, and where e^x or a
// square is too large.
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
				continue // infinite, too
			}
			if !(math.Abs(got-want) <= 2e-6*math.Abs(want)) {
				t.Errorf("%s(%v): %v, want %v", name, v, got, want)
			}
		}
	}
}

// TestScatterRefuses: rows of a batch that is open have no indices of their own.
func TestScatterRefuses(t *testing.T) {
	got := became(readModel(t, modelOf(13, 0, []int64{4}, nil, ints("i", 1), floats("u", []int64{1}, 2),
		op("ScatterElements", "x i u", "y", intAttr("axis", 1)))))
	if want := "sets elements of every row by constants of its own"; !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}
