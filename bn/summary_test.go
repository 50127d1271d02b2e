package bn_test

import (
	"math"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/tensor"
)

func f32(v ...float32) tensor.Tensor {
	t := tensor.New(tensor.F32, len(v))
	copy(t.F32(), v)
	return t
}

// Two channels have running means 1 and 2 and variances 4 and 9; a third channel is dead. The batch
// has two replicas of two values. In the first channel these are 2, 4 and 4, 6. So its mean is 4,
// which is 1.5 deviations away, its sample variance is 8/3, and the means of the replicas are 3 and
// 5. In the second channel all values are 2.
func TestSummarise(t *testing.T) {
	n := bn.Norm{Name: "bn1", Mean: f32(1, 2, 0), Variance: f32(4, 9, 0), Gamma: f32(1, 1, 1)}
	m := tensor.New(tensor.F64, 2, 7)
	copy(m.F64(), []float64{2, 3, 2, 0, 2, 0, 0, 2, 5, 2, 0, 2, 0, 0})
	before := bn.Norm{Mean: f32(2, 5, 0), Variance: f32(1, 1, 1)}
	s := bn.Summarise(n, m, before)
	if s.Dead != 1 || s.Channels != 3 || s.Mean != 1 || s.VarMin != 0 || s.VarMedian != 4 || s.VarMax != 9 {
		t.Errorf("%+v", s)
	}
	near := func(what string, got *float32, want float64) {
		if got == nil || math.Abs(float64(*got)-want) > 1e-6 {
			t.Errorf("%s %v, want %v", what, got, want)
		}
	}
	near("gap", s.Gap, (1.5+0)/2)
	near("ratio", s.Ratio, 8.0/3/4) // the median of 0 and 2/3 is the larger of the two
	near("spread", s.Spread, math.Sqrt2/2/2)
	near("drift", s.Drift, (0.5+1)/2)
}

func TestSummariseOfNothing(t *testing.T) {
	inf := float32(math.Inf(1))
	s := bn.Summarise(bn.Norm{Mean: f32(0, inf), Variance: f32(0, 1)}, tensor.Tensor{}, bn.Norm{})
	if s.Dead != 1 || s.NonFinite != 1 || s.Gap != nil || s.Drift != nil || s.Ratio != nil || s.Spread != nil {
		t.Errorf("%+v", s)
	}
	one := tensor.New(tensor.F64, 1, 5)
	copy(one.F64(), []float64{1, 3, 3, 0, 0}) // a single value has no variance
	if s := bn.Summarise(bn.Norm{Mean: f32(0, 0), Variance: f32(1, 1)}, one, bn.Norm{}); s.Gap != nil {
		t.Errorf("%+v", s)
	}
}
