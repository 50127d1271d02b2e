package class

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestFused compares fused with exact arithmetic that is rounded once. Some of the sums are halfway
// between two float32, or close to that.
func TestFused(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	number := func(exponents int) float32 {
		bits := r.Uint32()>>9 | uint32(127-exponents/2+r.IntN(exponents))<<23 | r.Uint32()&(1<<31)
		if r.IntN(3) == 0 {
			bits &^= 1<<uint(r.IntN(23)) - 1
		}
		return math.Float32frombits(bits)
	}
	for i := range 300000 {
		x, y, z := number(8), float32(r.IntN(511)-255), number(60)
		if i%3 == 0 {
			y = number(8)
		}
		exact := new(big.Float).SetPrec(500).SetFloat64(float64(x))
		exact.Mul(exact, new(big.Float).SetPrec(500).SetFloat64(float64(y)))
		exact.Add(exact, new(big.Float).SetPrec(500).SetFloat64(float64(z)))
		want, _ := exact.Float32()
		if got := fused(x, y, z); got != want {
			t.Fatalf("%g*%g + %g is %g, want %g", x, y, z, got, want)
		}
	}
}
