package main

import (
	"math"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/modelfile/doctor"
	"github.com/bnctl/bnctl/tensor"
)

// Good published models may have silent channels and gammas near 0. The health of this model is "odd" in
// JSON, and the text for people begins with "healthy".
func TestHealthOfPublishedModels(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		variance, gamma []float32
		word, text      string
	}{
		{[]float32{1, 2}, []float32{1, 1}, "healthy", "healthy"},
		{[]float32{0, 2}, []float32{1, 1}, "odd", "healthy, 1 warning"},
		{[]float32{1e-35, 2}, []float32{1, 1e-9}, "odd", "healthy, 2 warnings"},
		{[]float32{nan, 2}, []float32{1, 1}, "sick", "sick"},
		{[]float32{nan, 2}, []float32{1, 1e-9}, "sick", "sick, 1 warning"},
	} {
		norm := bn.Norm{Name: "bn", Eps: 1e-5, Mean: tensor.Of([]float32{0.5, 0.25}, 2),
			Variance: tensor.Of(c.variance, 2), Gamma: tensor.Of(c.gamma, 2)}
		word, warnings := doctor.Health([]bn.Norm{norm})
		if text := healthText(word, warnings); word != c.word || text != c.text {
			t.Errorf("variance %v, gamma %v: %s, %q; want %s, %q", c.variance, c.gamma, word, text, c.word, c.text)
		}
	}
}
