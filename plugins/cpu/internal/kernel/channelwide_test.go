package kernel

import (
	"math"
	"testing"
)

// TestSumsOfLargeValues checks that sums that overflow float32 are computed in float64, in all passes and
// all sets, and that the sums of other channels keep their bits.
func TestSumsOfLargeValues(t *testing.T) {
	const n, positions = 3, 130
	x, dx, y := make([]float32, n*positions), make([]float32, n*positions), make([]float32, n*positions)
	for p := range positions {
		for c := range n {
			x[p*n+c] = float32(p%7) * []float32{1, 0x1p66, 0x1p124}[c]
			y[p*n+c] = 1
		}
	}
	for _, s := range Sets() {
		for name, pass := range map[string]rowPasses{"f32": {s.Sums, s.Moments, s.GradientSums, s.MaskedSums, nil, nil},
			"bf16": halfPasses(t, s)} {
			var sum, mean, q, s1, s2, m1, m2 [n]float64
			r := &SumWorkspace{}
			pass.sums(sum[:], x, r)
			pass.moments(mean[:], q[:], x, r)
			pass.gradientSums(s1[:], s2[:], mean[:], x, x, r)
			pass.maskedSums(m1[:], m2[:], mean[:], x, dx, x, Mask{Y: y, Most: float32(math.NaN())}, r)
			for c := range n {
				total, squares := 0.0, 0.0
				for p := range positions {
					total += float64(x[p*n+c])
				}
				for p := range positions {
					d := float64(x[p*n+c]) - total/positions
					squares += d * d
				}
				for k, v := range []float64{sum[c], mean[c] * positions, s1[c], m1[c]} {
					if !(math.Abs(v-total) <= 1e-6*total) {
						t.Errorf("%s, %s: sum %d of channel %d is %g, want %g", s.Name, name, k, c, v, total)
					}
				}
				for k, v := range []float64{q[c], s2[c], m2[c]} {
					if !(math.Abs(v-squares) <= 1e-5*squares) {
						t.Errorf("%s, %s: squares %d of channel %d are %g, want %g", s.Name, name, k, c, v, squares)
					}
				}
			}
		}
	}
}
