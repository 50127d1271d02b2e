package answer_test

import (
	"math"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict/answer"
	"github.com/bnctl/bnctl/tensor"
)

// TestHoldingByThresholds: a label holds if its probability is equal to or above its threshold. A sample may
// have no label that holds. Both are also true for classes that exclude each other.
func TestHoldingByThresholds(t *testing.T) {
	m, err := models.Build("mlp-bn", models.Options{Classes: 2})
	if err != nil {
		t.Fatal(err)
	}
	m.Labels = []string{"cat", "dog"}
	odds := func(p float64) float32 { return float32(math.Log(p / (1 - p))) }
	for _, c := range []struct {
		thresholds []float64
		logit      float32 // logit of the label dog; the logit of cat is 0
		want       []string
	}{
		{nil, odds(0.6), nil},
		{[]float64{0.5, 0.5}, odds(0.5), []string{"cat", "dog"}},
		{[]float64{0.3, 0.9}, odds(0.6), []string{"cat"}},
		{[]float64{0.3, 0.9}, odds(0.95), []string{"dog"}},
		{[]float64{0.7, 0.8}, odds(0.6), nil},
		{[]float64{0, 1}, odds(0.6), []string{"cat"}},
	} {
		m, err := models.WithThresholds(m, c.thresholds)
		if err != nil {
			t.Fatal(err)
		}
		a, err := answer.New(m, answer.Options{Top: 1})
		if err != nil {
			t.Fatal(err)
		}
		if a.Decides() != (c.thresholds != nil) {
			t.Errorf("%v: decides %v", c.thresholds, a.Decides())
			continue
		}
		if c.thresholds == nil {
			continue
		}
		holding, err := a.Holding([]tensor.Tensor{tensor.Of([]float32{0, c.logit}, 2)})
		var got []string
		for _, k := range holding {
			got = append(got, k.Label)
		}
		slices.Sort(got)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("thresholds %v, logit %v: %v (%v), want %v", c.thresholds, c.logit, got, err, c.want)
		}
	}
	for _, bad := range [][]float64{{0.5}, {0.5, 0.5, 0.5}, {-0.1, 0.5}, {0.5, 1.1}, {math.NaN(), 0.5}} {
		if _, err := models.WithThresholds(m, bad); err == nil {
			t.Errorf("thresholds %v are accepted", bad)
		}
	}
}
