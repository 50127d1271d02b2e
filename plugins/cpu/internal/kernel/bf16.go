package kernel

import "math"

// A bfloat16 is the upper half of a float32. Values are rounded to the nearest bfloat16, ties to even.
// Infinities are kept, NaN becomes some NaN, and subnormal values become zero, as in the processors'
// instructions for rounding.

// leastNormal is the smallest normal float32.
const leastNormal = 0x1p-126

// flushed returns x, or a zero of the same sign if x is subnormal.
func flushed(x float32) float32 {
	if x < leastNormal && x > -leastNormal {
		return math.Float32frombits(math.Float32bits(x) & (1 << 31))
	}
	return x
}

// bf16 returns the bits of x rounded to bfloat16. It is the definition in plain Go.
func bf16(x float32) uint16 {
	if x != x {
		return 0x7fc0
	}
	b := math.Float32bits(flushed(x))
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// widened returns the float32 that a bfloat16 is.
func widened(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }

// bf16Kernels is the assembly for rounding. Each function processes the values that fill
// whole vectors of the given number of lanes.
type bf16Kernels struct {
	lanes  int
	round  func(x *float32, count int)
	narrow func(y *uint16, x *float32, count int)
	widen  func(x *float32, y *uint16, count int)
}

// wholeVectors returns how many of n values the assembly processes.
func (k *bf16Kernels) wholeVectors(n int) int {
	if k == nil {
		return 0
	}
	return n / k.lanes * k.lanes
}

// RoundBF16 rounds all x to bfloat16.
func (s *Set) RoundBF16(x []float32) {
	n := s.bf16.wholeVectors(len(x))
	if n > 0 {
		s.bf16.round(&x[0], n)
	}
	for i, v := range x[n:] {
		x[n+i] = widened(bf16(v))
	}
}

// NarrowBF16 sets y to the bits of x rounded to bfloat16. Both have the same length.
func (s *Set) NarrowBF16(y []uint16, x []float32) {
	x = x[:len(y)]
	n := s.bf16.wholeVectors(len(y))
	if n > 0 {
		s.bf16.narrow(&y[0], &x[0], n)
	}
	for i, v := range x[n:] {
		y[n+i] = bf16(v)
	}
}

// WidenBF16 sets dst to the bfloat16 values of src as float32. Both have the same length.
func (s *Set) WidenBF16(dst []float32, src []uint16) {
	src = src[:len(dst)]
	n := s.bf16.wholeVectors(len(dst))
	if n > 0 {
		s.bf16.widen(&dst[0], &src[0], n)
	}
	for i, v := range src[n:] {
		dst[n+i] = widened(v)
	}
}
