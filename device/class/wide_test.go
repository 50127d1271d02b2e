package class

import (
	"math"
	"testing"
)

// TestSumsOfLargeValues tests values with squares that overflow float32: 1e20 times the numbers
// 1 to n. The numbers 1 to n have the mean (n+1)/2 and a sum of squared deviations of n(n*n-1)/12.
func TestSumsOfLargeValues(t *testing.T) {
	large := Channel{Rows: 1, Positions: 130, At: func(i int) float32 { return float32(1e20 * float64(i+1)) }}
	largest := Channel{Rows: 2, Positions: 64, At: func(int) float32 { return 3e38 }}
	m, s := large.Moments(), large.GradientSums(large.At, large.Moments()[1])
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"mean", m[1], 6.55e+21}, {"squared deviations", m[2], 1.830725e+45},
		{"sum", large.Sum(), 8.515e+23}, {"products", s[1], 1.830725e+45},
		{"sum of the largest", largest.Sum(), 128 * 3e38}, {"mean of the largest", largest.Moments()[1], 3e38},
		{"squared deviations of the largest", largest.Moments()[2], 0},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-6*c.want) {
			t.Errorf("%s: %g, want %g", c.name, c.got, c.want)
		}
	}
	a := NormOf(m, 1e-5, 1, NoAdd)
	if y := a.Normalise(large.At(0)); math.Abs(float64(y)+1.7187781) > 1e-6 {
		t.Errorf("the first of 1 to 130 times 1e20 is normalised to %g, want -1.7187781", y)
	}
}

// TestSumsOfInfiniteValues checks that sums and moments of infinities and NaN are not finite.
func TestSumsOfInfiniteValues(t *testing.T) {
	for _, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		c := Channel{Rows: 1, Positions: 5, At: func(i int) float32 { return float32(v) * float32(i+1) }}
		m, sum := c.Moments(), c.Sum()
		if !math.IsNaN(m[1]) || !math.IsNaN(m[2]) || isFinite(sum) || math.IsNaN(sum) != math.IsNaN(v) {
			t.Errorf("%g: moments %g, sum %g", v, m, sum)
		}
	}
}
