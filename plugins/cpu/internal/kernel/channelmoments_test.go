package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// If the mean is at most 1000 standard deviations, the variance is within a relative error of 1e-6 of that
// of two passes in float64, and the mean is within 1e-6 of a standard deviation.
func TestMomentsPrecision(t *testing.T) {
	const channels = 3
	r := rand.New(rand.NewPCG(3, 64))
	for _, positions := range []int{49, 64, 196, 1000, 4096} {
		for _, mean := range []float64{0, 1, 100, 1000} {
			x := make([]float32, positions*channels)
			for i := range x {
				x[i] = float32(mean + r.NormFloat64())
			}
			got, gotQ := make([]float64, channels), make([]float64, channels)
			for _, s := range Sets() {
				s.Moments(got, gotQ, x, &SumWorkspace{})
				for c := range channels {
					want, q := twoPasses(x, channels, c)
					if math.Abs(gotQ[c]/q-1) > 1e-6 || math.Abs(got[c]-want) > 1e-6 {
						t.Errorf("%s: %d positions of mean %v: mean %v, want %v; squares %v, want %v", s.Name, positions,
							mean, got[c], want, gotQ[c], q)
					}
				}
			}
		}
	}
}

// twoPasses returns the moments of channel c in float64.
func twoPasses(x []float32, channels, c int) (mean, q float64) {
	n := 0.0
	for i := c; i < len(x); i += channels {
		mean += float64(x[i])
		n++
	}
	mean /= n
	for i := c; i < len(x); i += channels {
		q += (float64(x[i]) - mean) * (float64(x[i]) - mean)
	}
	return mean, q
}

// TestMomentsOfConstants checks that if all values of a channel are the same, they equal its mean, and the
// variance is 0.
func TestMomentsOfConstants(t *testing.T) {
	for _, v := range []float32{0, 1.1, -3e7, 1e-20, 0x1.fffffep-3} {
		for _, positions := range []int{1, 49, 64, 100, 4096} {
			x := make([]float32, positions)
			for i := range x {
				x[i] = v
			}
			mean, q := []float64{7}, []float64{7}
			for _, s := range Sets() {
				if s.Moments(mean, q, x, &SumWorkspace{}); mean[0] != float64(v) || q[0] != 0 {
					t.Errorf("%s: %d times %v: mean %v, squares %v", s.Name, positions, v, mean[0], q[0])
				}
			}
		}
	}
}

func TestMomentsOfNonFinite(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		x := make([]float32, 200)
		x[150] = float32(v)
		mean, q := []float64{0}, []float64{0}
		if Generic.Moments(mean, q, x, &SumWorkspace{}); q[0] == q[0] && !math.IsInf(q[0], 0) {
			t.Errorf("with %v: squares %v", v, q[0])
		}
	}
}
