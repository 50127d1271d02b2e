package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestGradient(t *testing.T) {
	type shape struct{ positions, taps, run, width, gap int }
	shapes := []shape{{64, 9, 16, 16, 0}, {49, 2, 32, 32, 0}, {20, 1, 5, 10, 0}, {13, 2, 0, 16, 0}}
	for n := range 70 {
		shapes = append(shapes, shape{n, 2, 3, 33, 1}, shape{7, 3, n, 17, 0}, shape{13, 2, 6, n + 1, 3})
	}
	r := rand.New(rand.NewPCG(2, 2))
	for _, s := range shapes {
		w := randomWindow(r, s.positions, s.taps, s.run, s.width, s.gap, 200)
		in, grad := guarded(r, 200), guarded(r, s.positions*(s.width+s.gap)+GradientSlack)
		run := func(set *Set, cuts ...int) []float32 {
			result := make([]float32, s.run*s.width)
			for panel := range w.Panels() {
				step := w.PanelWidth(panel)
				sums := make([]float32, s.run*step)
				from, spare := 0, new(Workspace)
				for _, to := range append(cuts, s.positions) {
					set.Gradient(w, s.taps-1, panel, sums, in, grad, 0, s.run/2, from, to, spare)
					set.Gradient(w, s.taps-1, panel, sums[s.run/2*step:], in, grad, s.run/2, s.run, from, to,
						spare)
					from = to
				}
				set.Unpack(w, panel, result[panel*PanelLanes:], sums, NewOrder(rowsOf(s.run, s.width)), 1)
			}
			return result
		}
		want := run(definition)
		for _, set := range fused() {
			if got := run(set); !sameBits(got, want) {
				t.Errorf("%s: %+v: differs from the definition", set.Name, s)
			}
			if got := run(set, s.positions/3, s.positions/2); !sameBits(got, want) {
				t.Errorf("%s: %+v: depends on how positions are cut", set.Name, s)
			}
		}
		checkClose(t, fmt.Sprintf("generic %+v", s), run(Generic), want, 1e-4)
	}
}

// rowsOf returns the offsets of n rows of a matrix with the given number of columns.
func rowsOf(n, columns int) []int {
	offsets := make([]int, n)
	for i := range offsets {
		offsets[i] = i * columns
	}
	return offsets
}
