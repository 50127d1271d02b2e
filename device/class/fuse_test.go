package class_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device/class"
)

// TestFuse checks that Fuse rounds the exact value once.
func TestFuse(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 1 << 16 {
		x, y := float32(r.NormFloat64()), float32(r.NormFloat64())
		z := float32(r.NormFloat64() * math.Exp2(float64(r.IntN(60)-30)))
		switch r.IntN(8) {
		case 0, 1:
			z = -x * y
		case 2: // nearly halfway between two float32
			half := math.Exp2(math.Floor(math.Log2(math.Abs(float64(z)))) - 23)
			x, y, z = float32(math.Exp2(float64(r.IntN(40)-60))), x, z+float32(half)
		case 3:
			x, z = x*0x1p-70, z*0x1p-140
			y *= 0x1p-75
		}
		exact := new(big.Float).SetPrec(300).Mul(big.NewFloat(float64(x)), big.NewFloat(float64(y)))
		exact.SetPrec(300).Add(exact, big.NewFloat(float64(z)))
		if want, _ := exact.Float32(); class.Fuse(x, y, z) != want {
			t.Fatalf("Fuse(%v, %v, %v) = %v, want %v", x, y, z, class.Fuse(x, y, z), want)
		}
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range [][4]float32{{inf, 1, -1, inf}, {inf, 0, 1, nan}, {inf, 1, -inf, nan}, {0, -1, 0, 0},
		{0x1p-149, 0.5, 0, 0}, {0x1p-149, 1.5, 0, 0x1p-148},
		{math.MaxFloat32, 2, -math.MaxFloat32, math.MaxFloat32}} {
		got := class.Fuse(c[0], c[1], c[2])
		if math.Float32bits(got) != math.Float32bits(c[3]) && (got == got || c[3] == c[3]) {
			t.Errorf("Fuse(%v, %v, %v) = %v, want %v", c[0], c[1], c[2], got, c[3])
		}
	}
}
