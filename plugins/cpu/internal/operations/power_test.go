package operations

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/tensor"
)

// TestPower compares powers of numbers of all sizes with their definition.
func TestPower(t *testing.T) {
	inf := float32(math.Inf(1))
	a := []float32{0, float32(math.Copysign(0, -1)), inf, -inf, float32(math.NaN()), 1, -1, 4, -4, 1e-45, -1e-45,
		math.MaxFloat32, -math.MaxFloat32, 0x1p-126, 0x1p42, 0x1p-50, 0x1p-49, 0x1.000002p0, 0x1.fffffep0}
	r := rand.New(rand.NewPCG(38, 9))
	for range 200000 {
		a = append(a, math.Float32frombits(r.Uint32()), math.Float32frombits(1<<23+r.Uint32N(126<<23)))
	}
	for _, e := range []float32{2, 3, 0.5, -0.5, -1, 1.7, float32(math.NaN())} {
		for _, s := range kernel.Sets() {
			y := slices.Clone(a)
			power(s, y, y, slices.Repeat([]float32{e}, len(a)))
			for i, x := range a {
				want := float32(tensor.Pow(float64(x), float64(e)))
				if y[i] != want && (y[i] == y[i] || want == want) || math.Signbit(float64(y[i])) !=
					math.Signbit(float64(want)) && want == want {
					t.Fatalf("%s: %g (%#08x) to the power of %g is %g, want %g", s.Name, x, math.Float32bits(x), e, y[i],
						want)
				}
			}
		}
	}
}
