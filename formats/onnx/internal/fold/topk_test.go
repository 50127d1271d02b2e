package fold

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

// A line is sorted as by comparing its elements: equal ones, such as -0 and 0, by the lower index. A line
// with a NaN, which has no order, is left to the comparison.
func TestSortedLine(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 9))
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 1e-45, -1e-45, math.MaxFloat32,
		-math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(-1))}
	for n := range 60 {
		const step = 3
		x := make([]float32, step*n+1)
		for i := range x {
			x[i] = special[r.IntN(len(special))]
			if n%2 == 0 && r.IntN(3) > 0 {
				x[i] = float32(r.NormFloat64())
			}
		}
		line := tensor.Of(x, len(x))
		for _, largest := range []bool{true, false} {
			want := element.Indices(n)
			slices.SortStableFunc(want, func(a, b int) int {
				if largest {
					a, b = b, a
				}
				return cmp.Compare(x[1+a*step]+0, x[1+b*step]+0)
			})
			if got, ok := sortedLine(line, 1, n, step, largest); !ok || !slices.Equal(got, want) {
				t.Errorf("largest %v of %v: %v, want %v", largest, x, got, want)
			}
		}
		if n > 0 {
			x[1+step*r.IntN(n)] = float32(math.NaN())
			if _, ok := sortedLine(tensor.Of(x, len(x)), 1, n, step, true); ok {
				t.Errorf("%v is sorted", x)
			}
		}
	}
}
