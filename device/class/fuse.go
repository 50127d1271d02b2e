package class

import "math"

// Fuse returns x*y + z rounded once, like a fused multiply-add instruction. The product
// of two float32 is exact in float64. The sum is rounded to odd in float64, so that the
// result is the exact value rounded to float32 once (Boldo, Melquiond 2008).
func Fuse(x, y, z float32) float32 {
	sum := float64(float64(x)*float64(y)) + float64(z)
	if math.Float64bits(sum)&(1<<29-1) == 1<<28 || math.Abs(sum) < 0x1p-126 {
		return float32(OddSum(x, y, z)) // sum may have been rounded to halfway between two float32
	}
	return float32(sum)
}

// OddSum returns x*y + z rounded to odd in float64: if the exact sum is not a float64, the result is the
// neighbour of the sum with an odd last bit.
func OddSum(x, y, z float32) float64 {
	p, a := float64(float64(x)*float64(y)), float64(z)
	sum := p + a
	b := sum - p
	lost := (p - (sum - b)) + (a - b)
	if lost != 0 && math.Float64bits(sum)&1 == 0 && !math.IsInf(sum, 0) && lost == lost {
		if (lost > 0) == (sum > 0) {
			sum = math.Float64frombits(math.Float64bits(sum) + 1)
		} else {
			sum = math.Float64frombits(math.Float64bits(sum) - 1)
		}
	}
	return sum
}
