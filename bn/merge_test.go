package bn_test

import (
	"math"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/tensor"
)

func set(mean, variance float32) map[string]tensor.Tensor {
	return map[string]tensor.Tensor{"m": tensor.Of([]float32{mean}, 1), "v": tensor.Of([]float32{variance}, 1)}
}

func TestMergeOfSets(t *testing.T) {
	sets := []map[string]tensor.Tensor{set(1, 2), set(3, 4), set(8, 0)}
	cases := []struct {
		rule           bn.Rule
		weights        []float64
		mean, variance float64 // computed by hand
	}{
		{bn.Pooled, nil, 4, 2 + 26.0/3},
		{bn.Mean, nil, 4, 2},
		{bn.First, nil, 1, 2},
		{bn.Pooled, []float64{2, 2, 0}, 2, 4},
		{bn.Mean, []float64{1, 3, 0}, 2.5, 3.5},
		{bn.First, []float64{0, 1, 1}, 1, 2},
	}
	for _, c := range cases {
		got, err := bn.Merge([]bn.Layer{layer(1)}, sets, c.weights, c.rule)
		if err != nil {
			t.Errorf("%s %v: %v", c.rule, c.weights, err)
			continue
		}
		m, v := float64(got["m"].F32()[0]), float64(got["v"].F32()[0])
		if math.Abs(m-c.mean) > 1e-6 || math.Abs(v-c.variance) > 1e-6 {
			t.Errorf("%s %v: mean %g, variance %g, want %g, %g", c.rule, c.weights, m, v, c.mean, c.variance)
		}
	}
}

func TestMergeRefuses(t *testing.T) {
	sets := []map[string]tensor.Tensor{set(1, 2), set(3, 4)}
	for name, weights := range map[string][]float64{
		"too few": {1}, "negative": {1, -1}, "NaN": {1, math.NaN()}, "all zero": {0, 0},
		"overflow": {math.MaxFloat64, math.MaxFloat64},
	} {
		if _, err := bn.Merge([]bn.Layer{layer(1)}, sets, weights, bn.Pooled); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := bn.Merge([]bn.Layer{layer(1)}, nil, nil, bn.Pooled); err == nil {
		t.Error("no sets: no error")
	}
	if _, err := bn.Merge([]bn.Layer{layer(2)}, sets, nil, bn.Pooled); err == nil {
		t.Error("other shape: no error")
	}
}
