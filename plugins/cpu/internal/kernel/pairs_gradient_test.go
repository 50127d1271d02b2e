package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// rounded returns values that are bfloat16, with slack behind them.
func rounded(values func(r *rand.Rand, n int) []float32, r *rand.Rand, n int) []float32 {
	x := values(r, n+Lanes)
	Generic.RoundBF16(x)
	return x[:n]
}

// All sets have the bits of the definition, however the positions are cut.
func TestPairsGradient(t *testing.T) {
	type shape struct{ positions, run, width int }
	shapes := []shape{{64, 16, 16}, {49, 32, 64}, {1, 3, 16}, {12, 21, 48}, {0, 4, 16}, {8, 0, 16}}
	for n := range 40 {
		shapes = append(shapes, shape{n, 7, 16}, shape{9, n, 32}, shape{11, n, 80})
	}
	r := rand.New(rand.NewPCG(9, 9))
	for i, s := range shapes {
		values := normal
		if i%3 == 0 {
			values = awkward
		}
		in, grad := rounded(values, r, 400), rounded(values, r, s.positions*s.width)
		offsets, grads := make([]int32, s.positions), make([]int32, s.positions)
		for p := range offsets {
			offsets[p], grads[p] = int32(4*r.IntN(400-s.run+1)), int32(4*p*s.width)
			if r.IntN(5) == 0 {
				offsets[p] = -1
			}
		}
		start := normal(r, s.run*s.width)
		run := func(set *Set, cuts ...int) []float32 {
			sums, from := slices.Clone(start), 0
			for _, to := range append(cuts, s.positions) {
				pairs, lanes := (to-from+1)/2, max(padded(s.run), Lanes)
				x, g := make([]uint16, 2*pairs*lanes), make([]uint16, 2*pairs*s.width)
				set.InterleaveBF16(x, in, offsets[from:to], lanes)
				set.InterleaveBF16(g, grad, grads[from:to], s.width)
				set.PairsGradient(sums, s.run, s.width, x, g, pairs)
				from = to
			}
			return sums
		}
		want := run(definition)
		for _, set := range pairsSets() {
			if got := run(set); !sameBits(got, want) {
				t.Errorf("%s: %+v: differs from the definition", set.Name, s)
			}
			if got := run(set, s.positions/4*2); !sameBits(got, want) {
				t.Errorf("%s: %+v: depends on how positions are cut", set.Name, s)
			}
		}
	}
}

func BenchmarkPairsGradient(b *testing.B) {
	for _, s := range []struct{ positions, run, width int }{{256, 16, 16}, {256, 32, 32}, {256, 64, 64},
		{49, 512, 64}} {
		r := rand.New(rand.NewPCG(1, 1))
		in, grad := rounded(normal, r, s.positions*s.run), rounded(normal, r, s.positions*s.width)
		offsets, grads := make([]int32, s.positions), make([]int32, s.positions)
		for p := range offsets {
			offsets[p], grads[p] = int32(4*p*s.run), int32(4*p*s.width)
		}
		pairs := (s.positions + 1) / 2
		x, g, sums := make([]uint16, 2*pairs*s.run), make([]uint16, 2*pairs*s.width), make([]float32, s.run*s.width)
		for _, set := range pairsSets() {
			b.Run(fmt.Sprintf("%dx%dx%d/%s", s.positions, s.run, s.width, set.Name), func(b *testing.B) {
				set.InterleaveBF16(g, grad, grads, s.width)
				for b.Loop() {
					set.InterleaveBF16(x, in, offsets, s.run)
					set.PairsGradient(sums, s.run, s.width, x, g, pairs)
				}
				rate := 2 * float64(s.positions*s.run*s.width) * float64(b.N) / b.Elapsed().Seconds()
				b.ReportMetric(rate/1e9, "GFLOP/s")
			})
		}
	}
}
