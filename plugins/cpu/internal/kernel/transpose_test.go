package kernel

import (
	"math/rand/v2"
	"testing"
)

// TestTranspose checks that a matrix can be transposed in parts.
func TestTranspose(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, rows := range []int{1, 2, 3, 7, 8, 9, 16, 17, 31, 33, 50} {
		for columns := range 70 {
			src := guarded(r, rows*columns)
			for i := range src {
				src[i] = float32(i)
			}
			for _, s := range append(vectorSets(), Generic) {
				dst := guarded(r, rows*columns)
				cut := r.IntN(columns + 1)
				s.TransposePart(dst, src, rows, columns, cut, columns)
				s.TransposePart(dst, src, rows, columns, 0, cut)
				for i, x := range src {
					if got := dst[i%columns*rows+i/columns]; got != x {
						t.Fatalf("%s: %d rows of %d: row %d, column %d is %g, want %g", s.Name, rows, columns,
							i/columns, i%columns, got, x)
					}
				}
			}
		}
	}
}
