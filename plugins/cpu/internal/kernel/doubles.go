package kernel

import "math"

// doubles is the assembly for functions of float64, with vectors of the given number of lanes.
type doubles struct {
	lanes int
	exp   func(y, x, table *float64, inside *uint64, count int)
}

// expTable has the constants of tensor.Exp, each repeated for the lanes of a vector: the bounds for a
// normal result, and the constants of the computation.
var expTable = func() (all []float64) {
	const someBits, bias = 0x1.8p52, 1023
	for _, c := range []float64{-707, 709, 1 / math.Ln2, 0.5, 6.93147180369123816490e-01,
		1.90821492927058770002e-10, 1, someBits, math.Float64frombits(bias << 52), 1. / 6227020800,
		1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320, 1. / 5040, 1. / 720, 1. / 120,
		1. / 24, 1. / 6, 1. / 2} {
		for range 8 {
			all = append(all, c)
		}
	}
	return all
}()

// ExpDoubles sets y to exp of x. y and x must be different memory. exp is tensor.Exp; it is
// used if there is no assembly, and for results that are not normal.
func (s *Set) ExpDoubles(y, x []float64, exp func(float64) float64) {
	const some = 512
	for len(x) > 0 {
		n := min(len(x), some)
		done := s.expDoubles(y[:n], x[:n])
		for i, v := range x[done:n] {
			y[done+i] = exp(v)
		}
		y, x = y[n:], x[n:]
	}
}

// expDoubles computes the first elements by assembly, and returns their number.
func (s *Set) expDoubles(y, x []float64) int {
	k := s.doubles
	if k == nil || len(x) < k.lanes {
		return 0
	}
	n, inside := len(x)/k.lanes*k.lanes, uint64(0)
	if k.exp(&y[0], &x[0], &expTable[0], &inside, n); inside != 1<<k.lanes-1 {
		return 0
	}
	return n
}
