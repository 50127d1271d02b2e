package operations

import (
	"math"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/tensor"
)

// raised has a function for each exponent for which a few operations of float64 suffice. Its relative error
// is within 2^-52, as in tensor.Pow, and both results round to the same float32. They could round
// differently only within a relative 2^-51 of the midpoint of two float32 values. For these exponents, only
// one float32 has a power so near a midpoint (the inverse of a root, 2.4 * 2^-53), and there both round
// alike, whatever the exponent of the number.
var raised = map[float32]func(x float64) float64{
	3:    func(x float64) float64 { return x * x * x },
	0.5:  root,
	-0.5: func(x float64) float64 { return 1 / root(x) },
	-1:   func(x float64) float64 { return 1 / x },
}

// root returns the square root with the special cases of C's pow: +0 for -0, and +Inf for -Inf.
func root(x float64) float64 {
	if x < 0 && !math.IsInf(x, -1) {
		return math.NaN()
	}
	return math.Sqrt(math.Abs(x))
}

// power sets y to a raised to the power b, element by element. y may be a.
func power(kernels *kernel.Set, y, a, b []float32) {
	a, b = a[:len(y)], b[:len(y)]
	if len(y) > 0 && alike(b) {
		if b[0] == 2 {
			kernels.Combine(kernel.Mul, y, a, a)
			return
		}
		if f := raised[b[0]]; f != nil {
			for i, v := range a {
				y[i] = float32(f(float64(v)))
			}
			return
		}
	}
	for i, v := range a {
		y[i] = float32(tensor.Pow(float64(v), float64(b[i])))
	}
}

// alike reports whether all elements are the same number.
func alike(b []float32) bool {
	for _, v := range b {
		if v != b[0] {
			return false
		}
	}
	return true
}
