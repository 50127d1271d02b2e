package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestAllFinite(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 70 {
		x := guarded(r, n)
		for _, s := range Sets() {
			if !s.AllFinite(x) {
				t.Fatalf("%s: %d finite values are said to be not", s.Name, n)
			}
			for i, v := range x {
				for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
					x[i] = float32(bad)
					if s.AllFinite(x) {
						t.Fatalf("%s: %v at %d of %d values is said to be finite", s.Name, bad, i, n)
					}
				}
				if x[i] = math.MaxFloat32; !s.AllFinite(x) {
					t.Fatalf("%s: the largest number at %d is said to be infinite", s.Name, i)
				}
				x[i] = v
			}
		}
	}
}

// TestWindowFinite checks that Finite reads only the channels of a panel, and only the positions of a
// window.
func TestWindowFinite(t *testing.T) {
	for _, width := range []int{5, 16, 70} {
		for _, step := range []int{width, width + 3} {
			in, out := make([]int32, 4), []int32{0, int32(4 * step), int32(8 * step), int32(12 * step)}
			w, x := NewWindow(in, out, 1, 1, width), make([]float32, 4*step)
			for _, s := range Sets() {
				for i := range x {
					x[i] = float32(math.NaN())
					for panel := range w.Panels() {
						channel := i%step - panel*PanelLanes
						seen := channel >= 0 && channel < PanelLanes && i%step < width
						if got := s.Finite(w, panel, x); got == seen {
							t.Fatalf("%s: %d channels, NaN at %d, panel %d: finite %v", s.Name, width, i, panel, got)
						}
					}
					x[i] = 0
				}
			}
		}
	}
}
