package kernel

import (
	"fmt"
	"math"
)

// WinogradSpread computes, for each of count blocks, the sum and the largest
// of the absolute values of a run of values of a and one of b; the runs of a
// block lie behind those of the one before, run is a multiple of Lanes. The
// largest is given by its bits, so that NaN is larger than all numbers.
//
// The sum has one order: every lane sums a run of a and then of b, step by
// step, and the lanes are added in halves.
func (s *Set) WinogradSpread(sums []float32, most []uint32, a, b []float32, run, count int) {
	if run < Lanes || run%Lanes != 0 || len(sums) < count || len(most) < count ||
		len(a) < run*count || len(b) < run*count {
		panic(fmt.Sprintf("kernel.WinogradSpread: %d blocks of %d values, %d sums, %d values, %d values",
			count, run, len(sums), len(a), len(b)))
	}
	if count < 1 {
		return
	}
	if s.winograd != nil {
		s.winograd.spread(&sums[0], &most[0], &a[0], &b[0], run, count)
		return
	}
	for i := range count {
		sums[i], most[i] = spreadGeneric(a[i*run:(i+1)*run], b[i*run:(i+1)*run])
	}
}

func spreadGeneric(a, b []float32) (sum float32, most uint32) {
	const sign = 1 << 31
	var lanes [Lanes]float32
	for k := 0; k < len(a); k += Lanes {
		for i := range lanes {
			x, y := math.Float32bits(a[k+i])&^sign, math.Float32bits(b[k+i])&^sign
			lanes[i] += math.Float32frombits(x)
			lanes[i] += math.Float32frombits(y)
			most = max(most, x, y)
		}
	}
	for n := Lanes / 2; n > 0; n /= 2 {
		for i := range n {
			lanes[i] += lanes[i+n]
		}
	}
	return lanes[0], most
}
