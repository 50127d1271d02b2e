package train

import (
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/tensor"
	"math"
	"testing"
)

// A batch without a label that counts has the inverse 0, and no loss.
func TestAllIgnored(t *testing.T) {
	none := tensor.Of([]int32{-1, -1, -1, -1}, 2, 2)
	for _, weights := range [][]float64{nil, {1, 2}} {
		p := &plan{classWeights: weights}
		b := parallel.Batch{Rows: map[string]tensor.Tensor{losses.InputLabels: none}}
		if got := inverse(p.denominator(none)); got != 0 {
			t.Errorf("weights %v: inverse %v", weights, got)
		}
		if got := p.perLabel(b, parallel.Result{}).Loss; got != 0 {
			t.Errorf("weights %v: loss %v", weights, got)
		}
	}
}

// The mean of a loss is weighted by its labels. Labels beyond the classes do not count.
func TestDenominator(t *testing.T) {
	labels := tensor.Of([]int32{0, 1, 1, -1, 2, 0}, 2, 3) // label 2 is beyond the two classes
	b := parallel.Batch{Rows: map[string]tensor.Tensor{losses.InputLabels: labels}}
	for _, c := range []struct {
		weights           []float64
		denominator, loss float64
	}{{nil, 5, 6}, {[]float64{0.5, 3, 1}, 8, 6.0 / 8 * 5}, {[]float64{0.5, 3}, 7, 6.0 / 7 * 5}} {
		p := &plan{classWeights: c.weights}
		if got := p.denominator(labels); got != c.denominator {
			t.Errorf("weights %v: %v, want %v", c.weights, got, c.denominator)
		}
		if got := inverse(p.denominator(labels)); got != float32(1/c.denominator) {
			t.Errorf("weights %v: inverse %v", c.weights, got)
		}
		if got := p.perLabel(b, parallel.Result{Loss: 6, Counted: 5}).Loss; math.Abs(got-c.loss) > 1e-12 {
			t.Errorf("weights %v: loss %v, want %v", c.weights, got, c.loss)
		}
	}
}
