package kernel

import (
	"fmt"

	"github.com/bnctl/bnctl/device/class"
)

// WinogradSpread computes, for each of count blocks, the sum and the largest of the
// absolute values of a run of a and a run of b. The runs of successive blocks are adjacent,
// and run is a multiple of Lanes. The largest is represented by its bits, so that NaN is
// larger than all numbers.
//
// The order of the sum is defined by class.BlockSize.
func (s *Set) WinogradSpread(sums []float32, largest []uint32, a, b []float32, run, count int) {
	if run < Lanes || run%Lanes != 0 || len(sums) < count || len(largest) < count ||
		len(a) < run*count || len(b) < run*count {
		panic(fmt.Sprintf("kernel.WinogradSpread: %d blocks of %d values, %d sums, %d values, %d values",
			count, run, len(sums), len(a), len(b)))
	}
	if count < 1 {
		return
	}
	if s.winograd != nil {
		s.winograd.spread(&sums[0], &largest[0], &a[0], &b[0], run, count)
		return
	}
	for i := range count {
		sums[i], largest[i] = class.BlockSize(a[i*run:(i+1)*run], b[i*run:(i+1)*run])
	}
}
