package kernel

import "math"

// AllFinite reports whether all values are finite. It computes the largest absolute value in each lane, and
// checks these.
func (s *Set) AllFinite(x []float32) bool {
	var all, most [Lanes]float32
	whole := len(x) / Lanes * Lanes
	s.Sizes(all[:], most[:], x[:whole])
	return allFinite(most[:]) && allFinite(x[whole:])
}

// allFinite is the definition of AllFinite.
func allFinite(x []float32) bool {
	const exponent = 0xFF << 23
	for _, v := range x {
		if math.Float32bits(v)&exponent == exponent {
			return false
		}
	}
	return true
}
