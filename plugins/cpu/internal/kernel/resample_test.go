package kernel

import (
	"fmt"
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
			m := someMixes(r, channels, taps, 5)
			want := make([]float32, 5*channels)
			Generic.Resample(want, x, channels, m, 0, 5)
			for _, s := range vectorSets() {
				from := r.IntN(3)
				to := from + r.IntN(4)
				got := guarded(r, (to-from)*channels)
				if s.Resample(got, x, channels, m, from, to); !sameBits(got, want[from*channels:to*channels]) {
					t.Fatalf("%s: %d channels, %d pixels: differs from the definition", s.Name, channels, taps)
				}
			}
			if taps == 0 && !sameBits(want, make([]float32, 5*channels)) {
				t.Fatalf("no pixels give %v", want)
			}
		}
	}
}

// someMixes returns a resampling from 12 pixels to the given number of pixels. Each result is a sum of
// random pixels, up to the given number of taps.
func someMixes(r *rand.Rand, channels, taps, count int) *Resampling {
	var ends, pixels []int32
	var weights []float64
	for range count {
		for range r.IntN(taps + 1) { // the same one may come again
			pixels = append(pixels, int32(4*channels*r.IntN(12)))
			weights = append(weights, r.Float64())
		}
		ends = append(ends, int32(len(pixels)))
	}
	return NewResampling(ends, pixels, weights)
}

func BenchmarkMix(b *testing.B) {
	const count = 64
	r := rand.New(rand.NewPCG(1, 1))
	for _, channels := range []int{21, 128} {
		x, y := guarded(r, 4*channels), guarded(r, count*channels)
		var ends, pixels []int32
		var weights []float64
		for i := range int32(count) {
			n := int32(4 * channels)
			ends, pixels = append(ends, 4*(i+1)), append(pixels, 0, n, 2*n, 3*n)
			weights = append(weights, 0.5625, 0.1875, 0.1875, 0.0625)
		}
		m := NewResampling(ends, pixels, weights)
		for _, s := range Sets() {
			b.Run(fmt.Sprintf("%s/%d", s.Name, channels), func(b *testing.B) {
				b.SetBytes(int64(4 * len(y)))
				for b.Loop() {
					s.Resample(y, x, channels, m, 0, count)
				}
			})
		}
	}
}

func TestAverage(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 13))
	for channels := 1; channels < 70; channels++ {
		m, x := someMixes(r, channels, 9, 5), guarded(r, 12*channels)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		a := NewAverages(m.ends, m.pixels, []float64{1, 2, 9, 9, 4})
		want := make([]float32, 5*channels)
		Generic.Average(want, x, channels, a, 0, 5)
		for _, s := range vectorSets() {
			from := r.IntN(3)
			to := from + r.IntN(4)
			got := guarded(r, (to-from)*channels)
			if s.Average(got, x, channels, a, from, to); !sameBits(got, want[from*channels:to*channels]) {
				t.Fatalf("%s: %d channels: differs from the definition", s.Name, channels)
			}
		}
	}
}
