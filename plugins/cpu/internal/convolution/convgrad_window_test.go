package convolution

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// Gradients that skip products with padding have the same bits as the full sums, for
// ordinary values, for values with products that round to -0, and for infinite values.
func TestGradientsOfPaddingAreLeftOut(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	left := 0
	for i := range 60 {
		side, c, o, rate := 4+r.IntN(8), 1+r.IntN(9), 1+r.IntN(70), 1+r.IntN(6)
		g := NewGeometry(graph.Window{Kernel: [2]int{3, 3}, Stride: [2]int{1, 1}, Dilation: [2]int{rate, rate},
			Pad: [4]int{rate, rate, rate, rate}, Groups: 1}, []int{c, side, side}, []int{o, side, side})
		offsets, step := g.forwardAt(0)
		part := newGradientOf(g.forward(), offsets, step)
		left += len(part.seen)
		x, dy := unusual(r, i, 2*side*side*c), unusual(r, i, 2*side*side*o+kernel.GradientSlack)
		if i%4 == 3 {
			dy[r.IntN(side*side*o)] = float32(math.Inf(1))
		}
		rows := func(do func(now, next rowPair)) {
			for k := range 2 {
				do(rowPair{x[k*side*side*c:], dy[k*side*side*o:][:side*side*o+kernel.GradientSlack]}, rowPair{})
			}
		}
		for _, set := range kernel.Sets() {
			for panel := range part.window.Panels() {
				n := part.sums(panel, panel+1, 2, 9)
				got, want := make([]float32, n), make([]float32, n)
				part.chunk(set, new(kernel.Workspace), 1+r.IntN(60), panel, panel+1, 2, 9, got, rows)
				plain := part
				plain.seen = nil
				plain.chunk(set, new(kernel.Workspace), 256, panel, panel+1, 2, 9, want, rows)
				for k := range want {
					a, b := got[k], want[k]
					if math.Float32bits(a) != math.Float32bits(b) && (a == a || b == b) {
						t.Fatalf("%s: case %d: sum %d is %v, want %v", set.Name, i, k, a, b)
					}
				}
			}
		}
	}
	if left == 0 {
		t.Error("nothing was left out")
	}
}

// unusual returns n values. kind modulo 3 selects ordinary values (0), tiny values (1) or many
// zeros (2).
func unusual(r *rand.Rand, kind, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
		switch {
		case kind%3 == 1:
			v[i] *= 1e-30
		case kind%3 == 2 && r.IntN(3) > 0:
			v[i] = float32(math.Copysign(0, float64(v[i])))
		}
	}
	return v
}
