package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var (
	nan          = math.NaN()
	negativeZero = math.Copysign(0, -1)
)

// fused returns the sets of this machine that compute sums as chains of fused multiply-adds.
func fused() []*Set {
	return slices.DeleteFunc(Sets(), func(s *Set) bool { return !s.fused })
}

// guarded returns n random values with NaN on both sides of them.
func guarded(r *rand.Rand, n int) []float32 {
	const guard = 32
	all := make([]float32, n+2*guard)
	for i := range all {
		all[i] = float32(math.NaN())
		if i >= guard && i < guard+n {
			all[i] = float32(r.NormFloat64())
		}
	}
	return all[guard : guard+n : guard+n]
}

// sameBits reports whether a and b hold the same float32. All NaNs count as the same.
func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool {
		return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
	})
}

// randomWindow returns a window with runs at random places of an image of size values, and some padding.
// Between two results there are gap values.
func randomWindow(r *rand.Rand, positions, taps, run, width, gap, size int) *Window {
	in, out := make([]int32, taps*positions), make([]int32, positions)
	for i := range in {
		in[i] = int32(4 * r.IntN(size-run+1))
		if r.IntN(5) == 0 {
			in[i] = -1
		}
	}
	for p := range out {
		out[p] = int32(4 * p * (width + gap))
	}
	return NewWindow(in, out, taps, run, width)
}

func TestWindow(t *testing.T) {
	type shape struct{ positions, taps, run, width, gap int }
	shapes := []shape{{64, 9, 16, 16, 0}, {49, 9, 32, 32, 0}, {20, 1, 5, 10, 0}, {3, 0, 0, 7, 2},
		{13, 2, 0, 16, 0}}
	for n := range 70 {
		shapes = append(shapes, shape{n, 2, 3, 33, 1}, shape{7, 3, n, 17, 0}, shape{13, 2, 6, n + 1, 3},
			shape{n, 2, 19, 24, 1})
	}
	r := rand.New(rand.NewPCG(1, 1))
	for _, s := range shapes {
		w := randomWindow(r, s.positions, s.taps, s.run, s.width, s.gap, 200)
		in, bias := guarded(r, 200), guarded(r, w.BiasLen())
		weights := guarded(r, s.taps*s.run*s.width)
		if r.IntN(2) == 0 {
			bias = nil
		}
		out := guarded(r, s.positions*(s.width+s.gap))
		e := randomEpilogue(r, len(out))
		run := func(set *Set, cuts ...int) []float32 {
			got, packed := slices.Clone(out), set.packed(w, weights)
			for panel := range w.Panels() {
				from := 0
				for _, to := range append(cuts, s.positions) {
					set.Window(w, panel, got, in, packed, bias, e, from, to, new(Workspace))
					from = to
				}
			}
			return got
		}
		want := run(definition)
		for _, set := range fused() {
			if got := run(set); !sameBits(got, want) {
				t.Errorf("%s: %+v: differs from the definition", set.Name, s)
			}
			if got := run(set, s.positions/3, s.positions/2); !sameBits(got, want) {
				t.Errorf("%s: %+v: depends on how positions are cut", set.Name, s)
			}
		}
		checkClose(t, fmt.Sprintf("generic %+v", s), run(Generic), want, 1e-4)
	}
}

// packed returns the packed form of weights, which are [Width][Taps*Run].
func (s *Set) packed(w *Window, weights []float32) []float32 {
	offsets := make([]int, w.Taps*w.Run)
	for i := range offsets {
		offsets[i] = i
	}
	packed := make([]float32, w.PackedLen())
	for panel := range w.Panels() {
		s.Pack(w, panel, packed, weights, NewOrder(offsets), len(offsets), Factor{})
	}
	return packed
}

// checkClose compares values within an absolute tolerance. Infinities and NaN must be the same.
func checkClose(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	for i := range want {
		d := math.Abs(float64(got[i]) - float64(want[i]))
		if !(d <= tolerance) && !sameBits(got[i:i+1], want[i:i+1]) {
			t.Errorf("%s: value %d is %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

func BenchmarkWindow(b *testing.B) {
	for _, s := range []struct{ side, taps, in, out int }{
		{32, 9, 16, 16}, {16, 9, 32, 32}, {8, 9, 64, 64}, {56, 9, 64, 64}, {14, 9, 256, 256}, {32, 3, 9, 16},
		{14, 1, 256, 1024}, {56, 1, 64, 256}, {7, 1, 2048, 512}, {32, 9, 512, 64}, {32, 9, 2048, 64},
		{32, 1, 2048, 64}, {7, 9, 512, 64},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		positions := s.side * s.side
		in, out := make([]int32, s.taps*positions), make([]int32, positions)
		for p := range positions {
			for t := range s.taps {
				in[t*positions+p] = int32(4 * s.in * ((p + t) % positions))
			}
			out[p] = int32(4 * s.out * p)
		}
		w := NewWindow(in, out, s.taps, s.in, s.out)
		image, result, packed := guarded(r, positions*s.in), guarded(r, positions*s.out), guarded(r, w.PackedLen())
		sums := make([]float32, s.in*w.BiasLen())
		slack := make([]float32, len(result)+GradientSlack)
		copy(slack, result)
		for _, set := range Sets() {
			flops := 2 * float64(positions*s.taps*s.in*s.out)
			report := func(b *testing.B) {
				reportRate(b, set, flops)
			}
			name := fmt.Sprintf("%dx%dx%dx%d/%s", s.side, s.taps, s.in, s.out, set.Name)
			b.Run("forward/"+name, func(b *testing.B) {
				spare := new(Workspace)
				for b.Loop() {
					for panel := range w.Panels() {
						set.Window(w, panel, result, image, packed, nil, Epilogue{}, 0, positions, spare)
					}
				}
				report(b)
			})
			b.Run("gradient/"+name, func(b *testing.B) {
				spare := new(Workspace)
				for b.Loop() {
					for panel := range w.Panels() {
						for t := range s.taps {
							set.Gradient(w, t, panel, sums, image, slack, 0, s.in, 0, positions, spare)
						}
					}
				}
				report(b)
			})
		}
	}
}
