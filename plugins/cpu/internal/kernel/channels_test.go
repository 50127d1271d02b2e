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
	sums := make([]float64, 8*channels)
	part := func(i int) []float64 { return sums[i*channels : (i+1)*channels] }
	s.Sums(part(0), x)
	s.Deviations(part(1), mean, x)
	s.GradientSums(part(2), part(3), mean, x, dy)
	size, most := make([]float32, channels), make([]float32, channels)
	s.Sizes(size, most, x)
	single = append(append(single, size...), most...)
	for _, p := range [][]float32{nil, plus} {
		for _, e := range []Ending{{p, false, 0}, {p, true, 6}, {p, true, float32(math.Inf(1))}} {
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
		s.MaskedSums(part(4+2*i), part(5+2*i), mean, x, dx, dy, m)
		single = append(single, dx...)
	}
	s.NormaliseGradient(dx, x, dy, a, slope)
	return sums, append(single, dx...)
}

func TestChannels(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for channels := range 70 {
		for _, positions := range []int{0, 1, 2, 7} {
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
			s.Relu6Gradient(y[4*n:], a, b)
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

func BenchmarkChannels(b *testing.B) {
	const channels, positions = 64, 256
	r := rand.New(rand.NewPCG(1, 1))
	x, dy, y := guarded(r, channels*positions), guarded(r, channels*positions), guarded(r, channels*positions)
	a, slope := NewAffine(channels), guarded(r, channels)
	sum, q, mean := make([]float64, channels), make([]float64, channels), make([]float64, channels)
	for _, s := range Sets() {
		for _, k := range []struct {
			name       string
			operations float64 // of an element
			run        func()
		}{
			{"sums", 1, func() { s.Sums(sum, x) }},
			{"deviation", 3, func() { s.Deviations(q, mean, x) }},
			{"gradsums", 4, func() { s.GradientSums(sum, q, mean, x, dy) }},
			{"normalise", 4, func() { s.Normalise(y, x, a, Ending{Relu: true, Most: 6}) }},
			{"gradient", 4, func() { s.NormaliseGradient(y, x, dy, a, slope) }},
		} {
			b.Run(fmt.Sprintf("%s/%s", k.name, s.Name), func(b *testing.B) {
				b.SetBytes(4 * channels * positions)
				for b.Loop() {
					k.run()
				}
				reportRate(b, s, k.operations*channels*positions)
			})
		}
	}
}
