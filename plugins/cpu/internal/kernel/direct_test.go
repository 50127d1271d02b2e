package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestDirect(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	for count := 1; count < 70; count++ {
		for _, run := range []int{1, 3, 8, 16, 21} {
			s := Direct{Rows: 1 + count%3, Run: run, RowStep: (count+2)*run + 5, GradStep: Lanes + count%2*3}
			in := guarded(r, (s.Rows-1)*s.RowStep+(count+2)*run)
			packed, bias := guarded(r, s.PackedLen()), guarded(r, Lanes)
			if count%2 == 0 {
				bias = nil
			}
			out, sums := guarded(r, (count-1)*s.GradStep+Lanes), guarded(r, DirectWidth*run*Lanes)
			e := randomEpilogue(r, len(out))
			compute := func(set *Set) (result, gradient []float32) {
				result, gradient = slices.Clone(out), slices.Clone(sums)
				set.Direct(s, result, in, packed, bias, e, count)
				if count > 1 {
					set.DirectGradient(s, gradient, in, out, count)
				}
				return result, gradient
			}
			want, wantGradient := compute(definition)
			for _, set := range fused() {
				if got, gradient := compute(set); !sameBits(got, want) || !sameBits(gradient, wantGradient) {
					t.Errorf("%s: %d positions of %+v: differs from the definition", set.Name, count, s)
				}
			}
			got, gradient := compute(Generic)
			checkClose(t, fmt.Sprintf("generic %d of %+v", count, s), got, want, 1e-4)
			checkClose(t, fmt.Sprintf("generic gradient %d of %+v", count, s), gradient, wantGradient, 1e-4)
		}
	}
}

func BenchmarkDirect(b *testing.B) {
	const side, run = 32, 16
	r := rand.New(rand.NewPCG(1, 1))
	s := Direct{Rows: 3, Run: run, RowStep: (side + 2) * run, GradStep: Lanes}
	in, packed, out := guarded(r, (side+2)*s.RowStep), guarded(r, s.PackedLen()),
		make([]float32, side*side*Lanes)
	sums := make([]float32, s.PackedLen())
	const flops = 2 * 9 * side * side * run * Lanes
	for _, set := range Sets() {
		b.Run("forward/"+set.Name, func(b *testing.B) {
			for b.Loop() {
				for y := range side {
					set.Direct(s, out[y*side*Lanes:], in[y*s.RowStep:], packed, nil, Epilogue{}, side)
				}
			}
			reportRate(b, set, flops)
		})
		b.Run("gradient/"+set.Name, func(b *testing.B) {
			for b.Loop() {
				for y := range side {
					for i := range s.Rows {
						set.DirectGradient(s, sums[i*DirectWidth*run*Lanes:], in[(y+i)*s.RowStep:], out[y*side*Lanes:], side)
					}
				}
			}
			reportRate(b, set, flops)
		})
	}
}
