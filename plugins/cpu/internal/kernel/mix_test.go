package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMix(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	for channels := 1; channels < 70; channels++ {
		for taps := range 10 {
			x := guarded(r, 12*channels)
			for i := range x {
				if x[i] = float32(r.NormFloat64()); r.IntN(20) == 0 {
					x[i] = float32(math.Copysign(0, -1))
				}
			}
			var pixels []int32
			var weights []float64
			for range taps { // the same one may come again
				pixels = append(pixels, int32(4*channels*r.IntN(12)))
				weights = append(weights, r.Float64())
			}
			want := make([]float32, channels)
			Generic.Mix(want, x, pixels, weights)
			for _, s := range vectorSets() {
				got := guarded(r, channels)
				if s.Mix(got, x, pixels, weights); !sameBits(got, want) {
					t.Fatalf("%s: %d channels, %d pixels: differs from the definition", s.Name, channels, taps)
				}
			}
			if taps == 0 && !sameBits(want, make([]float32, channels)) {
				t.Fatalf("no pixels give %v", want)
			}
		}
	}
}

func BenchmarkMix(b *testing.B) {
	const channels = 32
	r := rand.New(rand.NewPCG(1, 1))
	x, y := guarded(r, 4*channels), guarded(r, channels)
	pixels := []int32{0, 4 * channels, 8 * channels, 12 * channels}
	weights := []float64{0.5625, 0.1875, 0.1875, 0.0625}
	for _, s := range Sets() {
		b.Run(s.Name, func(b *testing.B) {
			b.SetBytes(4 * channels)
			for b.Loop() {
				s.Mix(y, x, pixels, weights)
			}
		})
	}
}
