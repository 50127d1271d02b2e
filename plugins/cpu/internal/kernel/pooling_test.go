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
					x[i] = 0.5 // equal maxima, of which the first is selected
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
				s.MaxPoolGradient(grad, x, dy, pixels, make([]float32, Lanes))
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

// Quads have the same gradients as separate windows, and write nothing else.
func TestMaxPoolQuads(t *testing.T) {
	const windows = 9
	r := rand.New(rand.NewPCG(11, 12))
	for channels := range 70 {
		for _, one := range []int{0, 40} { // one of so many values is NaN; 0: none
			x, dy, dx := guarded(r, 40*channels), guarded(r, windows*channels), guarded(r, 40*channels)
			for i := range x {
				switch {
				case r.IntN(3) == 0:
					x[i] = 0.5
				case one > 0 && r.IntN(one) == 0:
					x[i] = float32(math.NaN())
				case r.IntN(3) == 0:
					x[i] = float32(negativeZero) * float32(r.IntN(2))
				}
			}
			for i := range dy {
				if r.IntN(4) == 0 {
					dy[i] = float32(negativeZero)
				}
			}
			var pixels []int32
			for _, p := range r.Perm(40)[:4*windows] {
				pixels = append(pixels, int32(4*channels*p))
			}
			want := slices.Clone(dx)
			for i := range windows {
				for _, at := range pixels[4*i:][:4] {
					clear(want[at/4:][:channels])
				}
				Generic.MaxPoolGradient(want, x, dy[i*channels:][:channels], pixels[4*i:][:4],
					make([]float32, Lanes))
			}
			for _, s := range append(vectorSets(), Generic) {
				got := slices.Clone(dx)
				if s.MaxPoolQuads(got, x, dy, pixels, channels, make([]float32, Lanes)); !sameBits(got, want) {
					t.Fatalf("%s: %d channels, NaN %v: differs from the windows", s.Name, channels, one > 0)
				}
			}
		}
	}
}

func BenchmarkMaxPool(b *testing.B) {
	const channels = 64
	r := rand.New(rand.NewPCG(1, 1))
	x, y, dx := guarded(r, 4*channels), guarded(r, channels), guarded(r, 4*channels)
	spare := make([]float32, Lanes)
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
				s.MaxPoolGradient(dx, x, y, pixels, spare)
			}
			reportRate(b, s, 4*channels)
		})
		b.Run("quads/"+s.Name, func(b *testing.B) {
			b.SetBytes(16 * channels)
			for b.Loop() {
				s.MaxPoolQuads(dx, x, y, pixels, channels, spare)
			}
			reportRate(b, s, 4*channels)
		})
	}
}
