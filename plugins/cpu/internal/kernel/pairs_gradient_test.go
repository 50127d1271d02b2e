package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// rounded returns values rounded to bfloat16, followed by slack (values that kernels may read).
func rounded(values func(r *rand.Rand, n int) []float32, r *rand.Rand, n int) []float32 {
	x := values(r, n+Lanes)
	Generic.RoundBF16(x)
	return x[:n]
}

// halvesOf returns the values of x, which bfloat16 can represent, as bfloat16, followed by slack.
func halvesOf(x []float32) []uint16 {
	h := make([]uint16, len(x)+Lanes)
	Generic.NarrowBF16(h[:len(x)], x)
	return h[:len(x)]
}

// TestInterleave checks that all sets interleave as the definition does, from float32 and from bfloat16.
func TestInterleave(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	const values, lines = 300, 3
	for pairs := range 12 {
		for _, lanes := range []int{16, 32, 80} {
			l := PairsLine{Lanes: lanes, Step: 100, Offsets: make([]int32, 2*pairs)}
			in := rounded(awkward, r, values+(lines-1)*l.Step)
			for p := range l.Offsets {
				l.Offsets[p] = int32(4 * r.IntN(values-lanes+1))
				if r.IntN(4) == 0 {
					l.Offsets[p] = -1
				}
			}
			want := make([]uint16, lines*l.Len())
			for i := range want { // index of (line, pair, lane, half)
				line, pair, lane := i/l.Len(), i%l.Len()/(2*lanes), i/2%lanes
				if o := l.Offsets[2*pair+i%2]; o >= 0 {
					want[i] = bf16(in[line*l.Step+int(o)/4+lane])
				}
			}
			for _, set := range append(pairsSets(), definition) {
				got, halves := make([]uint16, len(want)), make([]uint16, len(want))
				set.InterleaveBF16(l, got, in, lines)
				set.InterleaveHalves(l, halves, halvesOf(in), lines)
				if !slices.Equal(got, want) || !slices.Equal(halves, want) {
					t.Errorf("%s: %d pairs of %d lanes: not the values that are meant", set.Name, pairs, lanes)
				}
			}
		}
	}
}

// TestPairsGradient checks that all sets have the bits of the definition, however the rows are divided
// among calls.
func TestPairsGradient(t *testing.T) {
	shapes := []PairsRows{{16, 16, 16, 3, 16 * 32, 9 * 256}, {21, 64, 7, 1, 0, 0}, {9, 16, 5, 3, 320, 144},
		{3, 16, 1, 5, 32, 48}, {16, 16, 1, 2, 64, 512}, {0, 16, 4, 1, 0, 0}, {4, 16, 0, 1, 0, 0}}
	for n := range 40 {
		shapes = append(shapes, PairsRows{n, 16, 2, 1 + n%5, 64, n * 16}, PairsRows{n, 32, 3, 1, 0, 0},
			PairsRows{n, 48 + n%3*16, 2, 1, 0, 0})
	}
	r := rand.New(rand.NewPCG(9, 9))
	for i, s := range shapes {
		values := normal
		if i%3 == 0 {
			values = awkward
		}
		const count = 7
		xRow, gradRow := 2*s.Pairs*max(padded(s.Run), Lanes), 2*s.Pairs*s.Width
		x := halvesOf(rounded(values, r, count*xRow+16))
		grad := halvesOf(rounded(values, r, (count+s.Taps)*max(gradRow, s.GradRow)))
		rows := make([][2]int32, count)
		for k := range rows {
			rows[k] = [2]int32{int32(2 * xRow * r.IntN(count)), int32(2 * gradRow * k)}
		}
		start := normal(r, s.Taps*max(s.SumTap, s.Run*s.Width))
		run := func(set *Set, cuts ...int) []float32 {
			sums, from, next := slices.Clone(start), 0, Prefetcher{}
			for _, to := range append(cuts, count) {
				next.Add(make([]byte, 200), 10, 30)
				set.PairsGradient(s, sums, x, grad, rows[from:to], &next)
				from = to
			}
			return sums
		}
		want := run(definition)
		for _, set := range pairsSets() {
			if got := run(set); !sameBits(got, want) {
				t.Errorf("%s: %+v: differs from the definition", set.Name, s)
			}
			if got := run(set, 1, 4); !sameBits(got, want) {
				t.Errorf("%s: %+v: depends on how rows are cut", set.Name, s)
			}
		}
	}
}

func BenchmarkPairsGradient(b *testing.B) {
	for _, s := range []PairsRows{{16, 16, 16, 3, 16 * 32, 9 * 256}, {16, 16, 128, 1, 0, 0},
		{9, 16, 16, 3, 512, 144}, {32, 32, 8, 1, 0, 0}, {64, 64, 4, 1, 0, 0}, {64, 64, 28, 1, 0, 0},
		{512, 64, 100, 1, 0, 0}, {21, 64, 56, 1, 0, 0}} {
		r, count, lanes := rand.New(rand.NewPCG(1, 1)), max(1, 128/s.Pairs), padded(s.Run)
		x := halvesOf(rounded(normal, r, 2*count*s.Pairs*lanes))
		grad := halvesOf(rounded(normal, r, (2*count*s.Pairs*s.Width + (s.Taps-1)*s.GradRow)))
		rows := make([][2]int32, count)
		for k := range rows {
			rows[k] = [2]int32{int32(4 * k * s.Pairs * lanes), int32(4 * k * s.Pairs * s.Width)}
		}
		sums := make([]float32, s.Taps*max(s.SumTap, s.Run*s.Width))
		for _, set := range pairsSets() {
			b.Run(fmt.Sprintf("%dx%d,%d,%dx%d/%s", count, s.Pairs, s.Taps, s.Run, s.Width, set.Name),
				func(b *testing.B) {
					for b.Loop() {
						set.PairsGradient(s, sums, x, grad, rows, nil)
					}
					rate := 4 * float64(count*s.Pairs*s.Taps*s.Run*s.Width) * float64(b.N) / b.Elapsed().Seconds()
					b.ReportMetric(rate/1e9, "GFLOP/s")
				})
		}
	}
}

func BenchmarkInterleave(b *testing.B) {
	for _, lanes := range []int{16, 64} {
		const values, lines = 4096, 8
		in := rounded(normal, rand.New(rand.NewPCG(1, 1)), values)
		l := PairsLine{Lanes: lanes, Step: values / lines, Offsets: make([]int32, values/lines/lanes)}
		for p := range l.Offsets {
			l.Offsets[p] = int32(4 * p * lanes)
		}
		dst, halves := make([]uint16, values), halvesOf(in)
		for _, set := range pairsSets() {
			rate := func(b *testing.B, interleave func()) {
				for b.Loop() {
					interleave()
				}
				b.ReportMetric(values*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gvalues/s")
			}
			b.Run(fmt.Sprintf("%d/%s", lanes, set.Name), func(b *testing.B) {
				rate(b, func() { set.InterleaveBF16(l, dst, in, lines) })
			})
			b.Run(fmt.Sprintf("halves of %d/%s", lanes, set.Name), func(b *testing.B) {
				rate(b, func() { set.InterleaveHalves(l, dst, halves, lines) })
			})
		}
	}
}
