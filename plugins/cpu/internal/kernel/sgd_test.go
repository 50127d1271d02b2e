package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSGDStep(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	for n := range 70 {
		w, g, v := guarded(r, n), guarded(r, n), guarded(r, n)
		for i, x := range []float32{float32(negativeZero), 0, float32(math.Inf(1))} {
			if i < n {
				g[(i*7)%n], w[(i*5)%n] = x, x
			}
		}
		for _, decay := range []float32{0, 5e-4} {
			for _, nesterov := range []bool{false, true} {
				o := SGD{Momentum: 0.9, Decay: decay, Rate: 0.05, Nesterov: nesterov}
				want, wantV := slices.Clone(w), slices.Clone(v)
				Generic.Step(want, wantV, want, g, wantV, o)
				for _, s := range vectorSets() {
					got, gotV := guarded(r, n), guarded(r, n)
					s.Step(got, gotV, w, g, v, o)
					inPlace, inPlaceV := slices.Clone(w), slices.Clone(v)
					s.Step(inPlace, inPlaceV, inPlace, g, inPlaceV, o)
					if !sameBits(got, want) || !sameBits(gotV, wantV) || !sameBits(inPlace, want) ||
						!sameBits(inPlaceV, wantV) {
						t.Errorf("%s: %d weights, %+v: differs from the definition", s.Name, n, o)
					}
				}
			}
		}
	}
}

// BenchmarkSGDStep measures steps on weights that are in the cache, and on so many that they are not.
func BenchmarkSGDStep(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1 << 10, 1 << 22} {
		w, g, v := guarded(r, n), guarded(r, n), guarded(r, n)
		for _, s := range Sets() {
			b.Run(fmt.Sprintf("%d/%s", n, s.Name), func(b *testing.B) {
				b.SetBytes(int64(20 * n))
				for b.Loop() {
					s.Step(w, v, w, g, v, SGD{Momentum: 0.9, Decay: 5e-4, Rate: 1e-9})
				}
			})
		}
	}
}
