package models_test

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// initialised fills one tensor of 64x32x3x3 by a rule.
func initialised(t *testing.T, name, rule string, args ...float64) []float32 {
	t.Helper()
	m := &models.Model{Graph: &graph.Graph{State: []graph.State{{Name: name,
		DType: tensor.F32, Shape: []int{64, 32, 3, 3},
		Role: graph.Weight, Init: graph.Init{Rule: rule, Args: args}}}}}
	if err := models.Init(m, 3); err != nil {
		t.Fatal(err)
	}
	return m.State[name].F32()
}

func TestInitRules(t *testing.T) {
	const in, out = 32 * 9, 64 * 9
	cases := []struct {
		rule            string
		args            []float64
		mean, deviation float64
		bound           float64 // bound of the uniform rules
	}{
		{"zeros", nil, 0, 0, 0},
		{"ones", nil, 1, 0, 1},
		{"constant", []float64{0.5}, 0.5, 0, 0.5},
		{"normal", []float64{0.01}, 0, 0.01, math.Inf(1)},
		{"uniform", []float64{0.3}, 0, 0.3 / math.Sqrt(3), 0.3},
		{"he_normal", []float64{0}, 0, math.Sqrt(2. / in), math.Inf(1)},
		{"he_normal", []float64{1}, 0, math.Sqrt(2. / out), math.Inf(1)},
		{"he_uniform", []float64{0}, 0, math.Sqrt(2. / in), math.Sqrt(6. / in)},
		{"xavier_normal", nil, 0, math.Sqrt(2. / (in + out)), math.Inf(1)},
		{"xavier_uniform", nil, 0, math.Sqrt(2. / (in + out)), math.Sqrt(6. / (in + out))},
	}
	for _, c := range cases {
		v := initialised(t, "w", c.rule, c.args...)
		mean, squares, most := 0.0, 0.0, 0.0
		for _, x := range v {
			mean += float64(x) / float64(len(v))
			most = max(most, math.Abs(float64(x)))
		}
		for _, x := range v {
			squares += (float64(x) - mean) * (float64(x) - mean) / float64(len(v))
		}
		// 18432 draws: the standard error of the deviation is below 0.6 %.
		if math.Abs(mean-c.mean) > 0.03*c.deviation+1e-9 ||
			math.Abs(math.Sqrt(squares)-c.deviation) > 0.025*c.deviation+1e-9 ||
			most > c.bound*(1+1e-6) {
			t.Errorf("%s %v: mean %.4g, deviation %.4g, largest %.4g, want %.4g, %.4g, %.4g", c.rule, c.args,
				mean, math.Sqrt(squares), most, c.mean, c.deviation, c.bound)
		}
	}
}

func TestInitDependsOnSeedAndName(t *testing.T) {
	a, b := initialised(t, "a", "normal", 1), initialised(t, "b", "normal", 1)
	if slices.Equal(a, b) {
		t.Error("two names have the same numbers")
	}
	one, two := build(t, "mlp-bn", models.Options{}, 1), build(t, "mlp-bn", models.Options{}, 2)
	if tensor.Equal(one.State["fc1.weight"], two.State["fc1.weight"]) {
		t.Error("two seeds have the same numbers")
	}
}

// The weights of a seed are part of every recipe: they never change.
func TestInitIsPinned(t *testing.T) {
	const want = "71a98ed1" // from the first release of this package
	m := build(t, "lenet-bn", models.Options{}, 42)
	h := sha256.New()
	for _, s := range m.Graph.State {
		h.Write(m.State[s.Name].Bytes)
	}
	if got := fmt.Sprintf("%x", h.Sum(nil)); !strings.HasPrefix(got, want) {
		t.Errorf("the weights of seed 42 have the sum %s, want %s...", got, want)
	}
}

func TestInitRefuses(t *testing.T) {
	for rule, d := range map[string]tensor.DType{"": tensor.F32, "sparse": tensor.F32, "ones": tensor.I64} {
		m := &models.Model{Graph: &graph.Graph{State: []graph.State{{Name: "w",
			DType: d, Shape: []int{2}, Init: graph.Init{Rule: rule}}}}}
		if err := models.Init(m, 0); err == nil || !strings.Contains(err.Error(), "initialising w") {
			t.Errorf("rule %q for %v: error %v", rule, d, err)
		}
	}
}
