package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMaxPool(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for channels := 1; channels < 70; channels++ {
		for taps := 1; taps < 10; taps++ {
			x, dy, dx := guarded(r, 12*channels), guarded(r, channels), guarded(r, 12*channels)
			for i := range x {
				switch r.IntN(8) {
				case 0:
					x[i] = float32(math.NaN())
				case 1, 2, 3:
					x[i] = 0.5 // so that the first of several counts
				}
			}
			var pixels []int32
			for _, p := range r.Perm(12)[:taps] {
				pixels = append(pixels, int32(4*channels*p))
			}
			slices.Sort(pixels)
			run := func(s *Set) (y, grad []float32) {
				y, grad = make([]float32, channels), slices.Clone(dx)
				s.MaxPool(y, x, pixels)
				s.MaxPoolGradient(grad, x, dy, pixels)
				return y, grad
			}
			want, wantGradient := run(Generic)
			for _, s := range vectorSets() {
				if got, gradient := run(s); !sameBits(got, want) || !sameBits(gradient, wantGradient) {
					t.Fatalf("%s: %d channels, %d pixels: differs from the definition", s.Name, channels, taps)
				}
			}
		}
	}
}

func BenchmarkMaxPool(b *testing.B) {
	const channels = 64
	r := rand.New(rand.NewPCG(1, 1))
	x, y, dx := guarded(r, 4*channels), guarded(r, channels), guarded(r, 4*channels)
	pixels := []int32{0, 4 * channels, 8 * channels, 12 * channels}
	for _, s := range Sets() {
		b.Run("forward/"+s.Name, func(b *testing.B) {
			b.SetBytes(16 * channels)
			for b.Loop() {
				s.MaxPool(y, x, pixels)
			}
			reportRate(b, s, 4*channels)
		})
		b.Run("gradient/"+s.Name, func(b *testing.B) {
			b.SetBytes(16 * channels)
			for b.Loop() {
				s.MaxPoolGradient(dx, x, y, pixels)
			}
			reportRate(b, s, 4*channels)
		})
	}
}
