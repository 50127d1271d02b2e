package operations

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// The extremes of a line have the same bits as if one number was compared after the other. The lengths are
// on both sides of extremesAtOnce and its multiples. NaN and zeros of both signs occur at any place.
func TestExtremesOfLines(t *testing.T) {
	r := rand.New(rand.NewPCG(59, 1))
	lengths := []int{0, 1, 15, 16, 17, 33, extremesAtOnce - 1, extremesAtOnce, extremesAtOnce + 1,
		2*extremesAtOnce - 1, 2 * extremesAtOnce, 2*extremesAtOnce + 1, 5*extremesAtOnce + 7}
	special := []float32{float32(math.NaN()), 0, float32(math.Copysign(0, -1)), float32(math.Inf(1)),
		float32(math.Inf(-1))}
	for _, set := range kernel.Sets() {
		for _, op := range []graph.Op{graph.ReduceMax, graph.ReduceMin} {
			for draw, n := range append(lengths, lengths...) {
				x := make([]float32, n)
				for i := range x {
					x[i] = -float32(r.IntN(3)) * float32(draw%2)
				}
				for range min(n, draw%4) {
					x[r.IntN(n)] = special[r.IntN(len(special))]
				}
				e := extremesOf(set, op, make([]float32, extremesAtOnce))
				want, got := e.first, e.line(e.first, x)
				for _, v := range x {
					want = e.better(want, v)
				}
				if !sameNumber(got, want) {
					t.Errorf("%s: %v of %d numbers is %g, want %g", set.Name, op, n, got, want)
				}
			}
		}
	}
}

// sameNumber reports whether a and b have the same bits. All NaNs count as equal.
func sameNumber(a, b float32) bool {
	return a != a && b != b || math.Float32bits(a) == math.Float32bits(b)
}
