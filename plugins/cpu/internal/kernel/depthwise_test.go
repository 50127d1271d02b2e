package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestDepthwise(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for channels := 1; channels < 140; channels++ {
		for _, positions := range []int{0, 1, 6, 13} {
			w := randomWindow(r, positions, channels%10, channels, channels, channels%3, 300)
			in, weights, bias := guarded(r, 300), guarded(r, w.Taps*channels), guarded(r, channels)
			if channels%2 == 0 {
				bias = nil
			}
			out, sums := guarded(r, positions*(channels+channels%3)), guarded(r, w.Taps*channels)
			e := randomEpilogue(r, len(out))
			run := func(s *Set, cut int) (result, gradient []float32) {
				result, gradient = slices.Clone(out), laidOut(s, sums, channels)
				s.Depthwise(w, result, in, weights, bias, e, 0, cut)
				s.Depthwise(w, result, in, weights, bias, e, cut, positions)
				ahead := new(Prefetcher)
				ahead.Add(make([]byte, 5000), 1, 1)
				for first := range min(2, w.Taps) {
					s.DepthwiseGradient(w, first, w.Taps-first, gradient, in, result, 0, cut, ahead)
					s.DepthwiseGradient(w, first, w.Taps-first, gradient, in, result, cut, positions, nil)
				}
				return result, inOrder(s, gradient, channels)
			}
			want, wantGradient := run(definition, 0)
			for _, s := range fused() {
				got, gotGradient := run(s, positions/2)
				if !sameBits(got, want) || !sameBits(gotGradient, wantGradient) {
					t.Errorf("%s: %d channels, %d positions: differs from the definition", s.Name, channels, positions)
				}
			}
			got, gotGradient := run(Generic, 0)
			checkClose(t, "generic", got, want, 1e-4)
			checkClose(t, "generic gradient", gotGradient, wantGradient, 1e-3)
		}
	}
}

// laidOut converts sums from [taps][channels] to the layout of DepthwiseSums.
func laidOut(s *Set, sums []float32, channels int) (all []float32) {
	fresh, again := s.DepthwiseSums(channels)
	for row := range slices.Chunk(sums, channels) {
		all = slices.Concat(all, row[:fresh], make([]float32, again), row[fresh:])
	}
	return all
}

// inOrder converts sums from the layout of DepthwiseSums to [taps][channels].
func inOrder(s *Set, all []float32, channels int) (sums []float32) {
	fresh, again := s.DepthwiseSums(channels)
	for row := range slices.Chunk(all, channels+again) {
		sums = slices.Concat(sums, row[:fresh], row[fresh+again:])
	}
	return sums
}

func BenchmarkDepthwise(b *testing.B) {
	for _, channels := range []int{58, 144} {
		b.Run(fmt.Sprint(channels), func(b *testing.B) { benchmarkDepthwise(b, channels) })
	}
}

func benchmarkDepthwise(b *testing.B, channels int) {
	const side, taps = 28, 9
	r := rand.New(rand.NewPCG(1, 1))
	in, out := make([]int32, taps*side*side), make([]int32, side*side)
	for p := range out {
		out[p] = int32(4 * channels * p)
		for t := range taps {
			in[t*len(out)+p] = int32(4 * channels * ((p + t) % len(out)))
		}
	}
	w := NewWindow(in, out, taps, channels, channels)
	image, result, weights := guarded(r, channels*side*side), guarded(r, channels*side*side),
		guarded(r, taps*channels)
	for _, s := range Sets() {
		sums := laidOut(s, make([]float32, taps*channels), channels)
		b.Run("forward/"+s.Name, func(b *testing.B) {
			for b.Loop() {
				s.Depthwise(w, result, image, weights, nil, Epilogue{}, 0, side*side)
			}
			reportRate(b, s, float64(2*taps*channels*side*side))
		})
		b.Run("gradient/"+s.Name, func(b *testing.B) {
			for b.Loop() {
				for p := 0; p < side*side; p += side {
					s.DepthwiseGradient(w, 0, taps, sums, image, result, p, p+side, nil)
				}
			}
			reportRate(b, s, float64(2*taps*channels*side*side))
		})
	}
}
