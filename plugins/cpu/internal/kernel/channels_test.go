package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// vectorSets returns every set of this machine but the definition.
func vectorSets() []*Set {
	return slices.DeleteFunc(Sets(), func(s *Set) bool { return s == Generic })
}

// channelRun computes every channel pass and returns all results.
func channelRun(s *Set, channels int, x, dy, plus []float32, a Affine, slope []float32) (
	wide []float64, single []float32) {
	mean := make([]float64, channels)
	for c := range mean {
		mean[c] = float64(c) * 0.25
	}
	sums, room := make([]float64, 9*channels), &SumWorkspace{}
	part := func(i int) []float64 { return sums[i*channels : (i+1)*channels] }
	s.Sums(part(0), x, room)
	s.Moments(part(1), part(8), x, room)
	s.GradientSums(part(2), part(3), mean, x, dy, room)
	size, most := make([]float32, channels), make([]float32, channels)
	s.Sizes(size, most, x)
	single = append(append(single, size...), most...)
	for _, p := range [][]float32{nil, plus} {
		for _, e := range []Epilogue{{p, false, 0}, {p, true, 6}, {p, true, float32(math.Inf(1))}} {
			y := make([]float32, len(x))
			s.Normalise(y, x, a, e)
			single = append(single, y...)
		}
	}
	dx, y := make([]float32, len(x)), slices.Clone(plus)
	Generic.Relu(y, y)
	for i, v := range []float32{0.5, float32(math.NaN()), float32(math.Inf(1))} {
		if i < len(y) {
			y[i] = v
		}
	}
	for i, m := range []Mask{{y, nil, float32(math.NaN())}, {y, x, 0.5}} {
		s.MaskedSums(part(4+2*i), part(5+2*i), mean, x, dx, dy, m, room)
		single = append(single, dx...)
	}
	s.NormaliseGradient(dx, x, dy, a, slope)
	return sums, append(single, dx...)
}

func TestChannels(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for channels := range 140 {
		counts := []int{0, 1, 2, 7, 64, 131}
		if channels > 128 {
			counts = []int{2*cachedValues/channels + 3}
		}
		for _, positions := range counts {
			n := positions * channels
			x, dy, plus, slope := guarded(r, n), guarded(r, n), guarded(r, n), guarded(r, channels)
			a := NewAffine(channels)
			for c := range channels {
				a.Set(c, r.NormFloat64()*100, r.NormFloat64(), r.NormFloat64())
			}
			wantWide, want := channelRun(Generic, channels, x, dy, plus, a, slope)
			for _, s := range vectorSets() {
				gotWide, got := channelRun(s, channels, x, dy, plus, a, slope)
				if !slices.Equal(gotWide, wantWide) || !sameBits(got, want) {
					t.Errorf("%s: %d channels, %d positions: differs from the definition", s.Name, channels, positions)
				}
			}
		}
	}
}

func TestElementwise(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for n := range 70 {
		a, b := guarded(r, n), guarded(r, n)
		for i, v := range []float32{0, float32(negativeZero), float32(nan), 6, 7, 5} {
			if i < n {
				a[(i*7)%n] = v
			}
		}
		run := func(s *Set) []float32 {
			y := make([]float32, 5*n)
			s.Relu6(y[3*n:4*n], a)
			s.Relu6Gradient(y[4*n:5*n], a, b)
			s.Relu(y[:n], a)
			s.ReluGradient(y[n:2*n], a, b)
			s.Add(y[2*n:3*n], a, b)
			return y
		}
		want := run(Generic)
		for _, s := range vectorSets() {
			if got := run(s); !sameBits(got, want) {
				t.Errorf("%s: %d elements: differs from the definition", s.Name, n)
			}
		}
	}
}

// BenchmarkChannels measures walks over rows of 16384 values, of float32 and of bfloat16. It repeats one
// row that is in the cache, or many rows that are in memory. The rate counts all bytes that are read and
// written.
func BenchmarkChannels(b *testing.B) {
	const row, far = 16384, 512
	r := rand.New(rand.NewPCG(1, 1))
	var wide [4][]float32
	var half [4][]uint16
	for i := range wide {
		wide[i], half[i] = guarded(r, far*row), make([]uint16, far*row)
		Generic.NarrowBF16(half[i], wide[i])
	}
	for _, s := range Sets() {
		for _, channels := range []int{16, 32, 58, 64, 116, 256} {
			for _, rows := range []int{1, far} {
				prefix := fmt.Sprintf("%d/%d rows/", channels, rows)
				benchmarkPasses(b, s, prefix, row, passesOf(s, channels, wide, rows*row))
				benchmarkPasses(b, s, prefix+"half ", row, halfPassesOf(s, channels, half, rows*row))
			}
		}
	}
}

// pass is a kernel that is measured. It processes n values from index at on, and moves the given number of
// bytes for each value.
type pass struct {
	name  string
	bytes int
	run   func(at, n int)
	total int // number of values in memory
}

func benchmarkPasses(b *testing.B, s *Set, prefix string, row int, passes []pass) {
	for _, p := range passes {
		b.Run(prefix+p.name+"/"+s.Name, func(b *testing.B) {
			b.SetBytes(int64(p.bytes * row))
			for at := 0; b.Loop(); at = (at + row) % p.total {
				p.run(at, row)
			}
		})
	}
}

// passesOf returns the passes over the first total values of rows of float32.
func passesOf(s *Set, channels int, x [4][]float32, total int) []pass {
	a, slope := NewAffine(channels), make([]float32, channels)
	sum, q, mean := make([]float64, channels), make([]float64, channels), make([]float64, channels)
	room := &SumWorkspace{}
	of := func(i, at, n int) []float32 { return x[i][at : at+n] }
	return []pass{
		{"sums", 4, func(at, n int) { s.Sums(sum, of(0, at, n), room) }, total},
		{"moments", 4, func(at, n int) { s.Moments(mean, q, of(0, at, n), room) }, total},
		{"gradsums", 8, func(at, n int) { s.GradientSums(sum, q, mean, of(0, at, n), of(1, at, n), room) }, total},
		{"maskedsums", 16, func(at, n int) {
			s.MaskedSums(sum, q, mean, of(0, at, n), of(1, at, n), of(2, at, n),
				Mask{of(3, at, n), nil, float32(math.NaN())}, room)
		}, total},
		{"normalise", 8, func(at, n int) {
			s.Normalise(of(1, at, n), of(0, at, n), a, Epilogue{nil, true, 6})
		}, total},
		{"normaliseplus", 12, func(at, n int) {
			s.Normalise(of(1, at, n), of(0, at, n), a, Epilogue{of(2, at, n), true, 6})
		}, total},
		{"gradient", 12, func(at, n int) {
			s.NormaliseGradient(of(1, at, n), of(0, at, n), of(2, at, n), a, slope)
		}, total},
	}
}

// halfPassesOf returns the same passes as passesOf, over rows of bfloat16.
func halfPassesOf(s *Set, channels int, x [4][]uint16, total int) []pass {
	a, slope := NewAffine(channels), make([]float32, channels)
	sum, q, mean := make([]float64, channels), make([]float64, channels), make([]float64, channels)
	room := &SumWorkspace{}
	of := func(i, at, n int) []uint16 { return x[i][at : at+n] }
	return []pass{
		{"sums", 2, func(at, n int) { s.SumsHalf(sum, of(0, at, n), room) }, total},
		{"moments", 2, func(at, n int) { s.MomentsHalf(mean, q, of(0, at, n), room) }, total},
		{"gradsums", 4, func(at, n int) { s.GradientSumsHalf(sum, q, mean, of(0, at, n), of(1, at, n), room) }, total},
		{"maskedsums", 8, func(at, n int) {
			s.MaskedSumsHalf(sum, q, mean, of(0, at, n), of(1, at, n), of(2, at, n),
				HalfMask{of(3, at, n), nil, float32(math.NaN())}, room)
		}, total},
		{"normalise", 4, func(at, n int) {
			s.NormaliseHalf(of(1, at, n), of(0, at, n), a, HalfEpilogue{nil, true, 6})
		}, total},
		{"normaliseplus", 6, func(at, n int) {
			s.NormaliseHalf(of(1, at, n), of(0, at, n), a, HalfEpilogue{of(2, at, n), true, 6})
		}, total},
		{"gradient", 6, func(at, n int) {
			s.NormaliseGradientHalf(of(1, at, n), of(0, at, n), of(2, at, n), a, slope)
		}, total},
	}
}
