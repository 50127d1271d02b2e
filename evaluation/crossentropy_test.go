package evaluation

import (
	"github.com/bnctl/bnctl/tensor"
	"math"
	"testing"
)

// The wanted value is from PyTorch 1.13: cross_entropy(log([[.5, .25, .25]]), [1], weight=[.5, 3, 1],
// reduction="sum", label_smoothing=.3). The denominator is the weight of the label.
func TestWeightedAndSmoothed(t *testing.T) {
	e := &Evaluation{loss: TrainingLoss{Smoothing: 0.3}, classWeights: []float64{0.5, 3, 1}}
	x := tensor.Of([]float32{0.5, 0.25, 0.25}, 1, 3)
	if err := e.Add(x, tensor.Of([]int32{1}, 1), true); err != nil {
		t.Fatal(err)
	}
	if want := 3.5003932641609254; math.Abs(e.LossSum-want) > 1e-6 || e.WeightSum != 3 {
		t.Errorf("loss %.9g over %g, want %.9g over 3", e.LossSum, e.WeightSum, want)
	}
}

func TestCrossEntropy(t *testing.T) {
	logits := []float64{1, -2, 0.5}
	sum := math.Exp(1) + math.Exp(-2) + math.Exp(0.5)
	var shares []float64
	for _, z := range logits {
		shares = append(shares, math.Exp(z)/sum)
	}
	for _, smoothing := range []float64{0, 0.1, 0.9} {
		want := 0.0
		for c, p := range shares {
			target := smoothing / 3
			if c == 2 {
				target += 1 - smoothing
			}
			want -= target * math.Log(p)
		}
		for _, from := range []struct {
			z             []float64
			probabilities bool
		}{{logits, false}, {shares, true}} {
			z := append([]float64(nil), from.z...)
			if got := crossEntropy(logShares(z, from.probabilities), 2, smoothing); math.Abs(got-want) > 1e-12 {
				t.Errorf("smoothing %v, probabilities %v: %v, want %v", smoothing, from.probabilities, got, want)
			}
		}
	}
}
