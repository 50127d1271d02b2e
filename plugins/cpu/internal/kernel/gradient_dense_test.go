package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDenseGradient compares DenseGradient with Gradient over windows of rows, with and without previous
// sums.
func TestDenseGradient(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 21))
	for _, rows := range []int{1, 2, 7, 16, 33} {
		for values := 1; values < 30; values++ {
			const gradStep = PanelLanes + 5
			inStep := values + 3
			in, grad := guarded(r, rows*inStep), guarded(r, rows*gradStep+GradientSlack)
			at, of := make([]int32, rows), make([]int32, rows)
			for i := range rows {
				at[i], of[i] = int32(4*i*inStep), int32(4*i*gradStep)
			}
			w, before := NewWindow(at, of, 1, values, PanelLanes), guarded(r, values*PanelLanes)
			for _, s := range Sets() {
				want := make([]float32, values*PanelLanes)
				s.Gradient(w, 0, 0, want, in, grad, 0, values, 0, rows, &Workspace{})
				for _, add := range []bool{false, true} {
					got := slices.Clone(before)
					s.DenseGradient(got, in, inStep, grad, gradStep, rows, values, add)
					if add {
						Generic.Add(want, before, want)
					}
					if !sameBits(got, want) {
						t.Fatalf("%s: %d rows of %d values, added %v: differs from Gradient", s.Name, rows, values, add)
					}
				}
			}
		}
	}
}
