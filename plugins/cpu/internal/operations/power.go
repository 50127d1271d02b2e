package operations

import (
	"math"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/tensor"
)

// raised holds powers that a few operations of float64 compute to within a relative error
// of 2^-52, as tensor.Pow does. Both round to the same float32. Only one float32 has a
// power of this kind nearer than a relative 2^-51 to the midpoint of two float32 values
// (the inverse of a root, 2.4 * 2^-53), and there both round alike for every exponent of
// the number.
var raised = map[float32]func(x float64) float64{
	3:    func(x float64) float64 { return x * x * x },
	0.5:  root,
	-0.5: func(x float64) float64 { return 1 / root(x) },
	-1:   func(x float64) float64 { return 1 / x },
}

// root is the square root, with C's special cases of a power: +0 of -0, +Inf of -Inf.
func root(x float64) float64 {
	if x < 0 && !math.IsInf(x, -1) {
		return math.NaN()
	}
	return math.Sqrt(math.Abs(x))
}

// power sets y to a to the power of b. y may be a.
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
