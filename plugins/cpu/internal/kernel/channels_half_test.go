package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// rowPasses has all passes over rows: either over rows of float32, or over rows of bfloat16. Their
// arguments are float32 in both cases.
type rowPasses struct {
	sums              func(sum []float64, x []float32, r *SumWorkspace)
	moments           func(mean, q []float64, x []float32, r *SumWorkspace)
	gradientSums      func(s1, s2, mean []float64, x, dy []float32, r *SumWorkspace)
	maskedSums        func(s1, s2, mean []float64, x, dx, dy []float32, m Mask, r *SumWorkspace)
	normalise         func(y, x []float32, a Affine, e Epilogue)
	normaliseGradient func(dx, x, dy []float32, a Affine, slope []float32)
}

// roundedPasses define the functions over rows of bfloat16: the functions over float32,
// followed by rounding.
func roundedPasses() rowPasses {
	s := Generic
	return rowPasses{s.Sums, s.Moments, s.GradientSums,
		func(s1, s2, mean []float64, x, dx, dy []float32, m Mask, r *SumWorkspace) {
			if m.Plus != nil {
				s.Add(dx, dy, m.Plus)
				s.RoundBF16(dx)
				dy, m.Plus = dx, nil
			}
			s.MaskedSums(s1, s2, mean, x, dx, dy, m, r)
		},
		func(y, x []float32, a Affine, e Epilogue) {
			s.Normalise(y, x, a, e)
			s.RoundBF16(y)
		},
		func(dx, x, dy []float32, a Affine, slope []float32) {
			s.NormaliseGradient(dx, x, dy, a, slope)
			s.RoundBF16(dx)
		},
	}
}

// halfPasses returns the passes of s over rows of bfloat16. They also check that nothing is written past
// the end of a row.
func halfPasses(t *testing.T, s *Set) rowPasses {
	narrow := func(x []float32) []uint16 {
		if x == nil {
			return nil
		}
		y := make([]uint16, len(x))
		Generic.NarrowBF16(y, x)
		return slices.Clip(y)
	}
	result := func(y []float32, write func(y []uint16)) {
		const guard, mark = 40, 0x1234
		all := slices.Repeat([]uint16{mark}, len(y)+2*guard)
		write(all[guard:][:len(y)])
		for i, v := range all {
			if (i < guard || i >= guard+len(y)) && v != mark {
				t.Fatalf("%s: wrote beyond the ends of %d values", s.Name, len(y))
			}
		}
		Generic.WidenBF16(y, all[guard:][:len(y)])
	}
	return rowPasses{
		func(sum []float64, x []float32, r *SumWorkspace) { s.SumsHalf(sum, narrow(x), r) },
		func(mean, q []float64, x []float32, r *SumWorkspace) { s.MomentsHalf(mean, q, narrow(x), r) },
		func(s1, s2, mean []float64, x, dy []float32, r *SumWorkspace) {
			s.GradientSumsHalf(s1, s2, mean, narrow(x), narrow(dy), r)
		},
		func(s1, s2, mean []float64, x, dx, dy []float32, m Mask, r *SumWorkspace) {
			result(dx, func(dx []uint16) {
				half := HalfMask{narrow(m.Y), narrow(m.Plus), m.Most}
				s.MaskedSumsHalf(s1, s2, mean, narrow(x), dx, narrow(dy), half, r)
			})
		},
		func(y, x []float32, a Affine, e Epilogue) {
			half := HalfEpilogue{narrow(e.Plus), e.Relu, e.Most}
			result(y, func(y []uint16) { s.NormaliseHalf(y, narrow(x), a, half) })
		},
		func(dx, x, dy []float32, a Affine, slope []float32) {
			result(dx, func(dx []uint16) { s.NormaliseGradientHalf(dx, narrow(x), narrow(dy), a, slope) })
		},
	}
}

// run does all passes over the rows x, dy and plus; it returns all results.
func (p *rowPasses) run(channels int, x, dy, plus []float32, a Affine, slope []float32) (
	wide []float64, single []float32) {
	nan, infinity := float32(math.NaN()), float32(math.Inf(1))
	masks := []Mask{{plus, nil, nan}, {plus, x, 0.5}, {plus, nil, 0.3}, {plus, nil, infinity}, {x, plus, 0},
		{x, nil, -1}}
	sums, room := make([]float64, (6+2*len(masks))*channels), &SumWorkspace{}
	part := func(i int) []float64 { return sums[i*channels : (i+1)*channels] }
	mean := part(4 + 2*len(masks))
	for c := range mean {
		mean[c] = float64(c) * 0.25
	}
	p.sums(part(0), x, room)
	p.moments(part(1), part(5+2*len(masks)), x, room)
	p.gradientSums(part(2), part(3), mean, x, dy, room)
	result := make([]float32, len(x))
	for _, with := range [][]float32{nil, plus} {
		for _, e := range []Epilogue{{with, false, 0}, {with, true, 6}, {with, true, infinity}} {
			p.normalise(result, x, a, e)
			single = append(single, result...)
		}
	}
	for i, m := range masks {
		p.maskedSums(part(4+2*i), part(5+2*i), mean, x, result, dy, m, room)
		single = append(single, result...)
	}
	p.normaliseGradient(result, x, dy, a, slope)
	return sums, append(single, result...)
}

// sameDoubles reports whether a and b hold the same float64. All NaNs count as the same.
func sameDoubles(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
	})
}

// TestChannelsHalf checks the functions of all sets over rows of bfloat16. Their results must equal the
// rounded results of the functions over float32, for finite values and for any bits.
func TestChannelsHalf(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 4))
	shapes := [][2]int{{200, 50}, {128, 70}}
	for channels := range 100 {
		for _, positions := range []int{0, 1, 2, 7} {
			shapes = append(shapes, [2]int{channels, positions})
		}
	}
	for i, shape := range shapes {
		channels, n := shape[0], shape[0]*shape[1]
		row := func() []float32 {
			x := guarded(r, n)
			if i%2 == 1 {
				copy(x, awkward(r, n))
			}
			Generic.RoundBF16(x)
			return x
		}
		x, dy, plus, slope := row(), row(), row(), guarded(r, channels)
		a := NewAffine(channels)
		for c := range channels {
			a.Set(c, r.NormFloat64()*100, r.NormFloat64(), r.NormFloat64())
		}
		want := roundedPasses()
		wantWide, wantSingle := want.run(channels, x, dy, plus, a, slope)
		for _, s := range append(pairsSets(), Generic) {
			got := halfPasses(t, s)
			wide, single := got.run(channels, x, dy, plus, a, slope)
			if !sameDoubles(wide, wantWide) || !sameBits(single, wantSingle) {
				t.Errorf("%s: %d channels, %d positions: differs from the definition", s.Name, channels, shape[1])
			}
		}
	}
}
