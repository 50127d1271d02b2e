package kernel

import (
	"fmt"
	"testing"
)

// Runs are copied to their places, and nothing is written between them.
func TestCopyRuns(t *testing.T) {
	for n := range 40 {
		for _, gap := range []int{0, 1, 7} {
			const count = 6
			src, dst := make([]uint32, count*(n+2*gap)), make([]uint32, count*(n+gap))
			for i := range src {
				src[i] = uint32(i + 1)
			}
			CopyRuns(dst, src, n, count, n+gap, n+2*gap)
			for i, v := range dst {
				run, at := i/max(n+gap, 1), i%max(n+gap, 1)
				want := uint32(0)
				if at < n {
					want = src[run*(n+2*gap)+at]
				}
				if v != want {
					t.Fatalf("runs of %d, %d apart: value %d is %d, want %d", n, n+gap, i, v, want)
				}
			}
		}
	}
}

func BenchmarkCopyRuns(b *testing.B) {
	const count = 1600
	for _, n := range []int{3, 6, 12, 16, 32, 58, 128} {
		src, dst := make([]uint32, 2*count*n), make([]uint32, 2*count*n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(4 * count * n))
			for b.Loop() {
				CopyRuns(dst, src, n, count, 2*n, 2*n)
			}
		})
	}
}
