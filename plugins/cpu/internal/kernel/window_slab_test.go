package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A slab has the bits of the definition, however its chains are cut and whatever taps it
// leaves out.
func TestWindowSlab(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for i, s := range []struct{ side, dilation, taps, run int }{
		{7, 0, 1, slabValues + 30}, {7, 0, 3, slabValues / 2}, {3, 0, 2, 2*slabValues + 1}, {5, 0, 70, 17},
		{4, 0, 600, 1}, {14, 3, 9, 20}, {9, 4, 9, slabValues + 1}, {9, 8, 9, 3}, {16, 11, 9, 70},
		{8, 9, 9, slabValues/4 + 3}, {1, 0, 1, 5},
	} {
		for width := 3; width < 140; width += 64 {
			images, positions := 3, s.side*s.side
			var w *Window
			if s.dilation > 0 {
				w = dilatedWindow(s.side, s.dilation, s.run, width)
			} else {
				w = randomWindow(r, positions, s.taps, s.run, width, 0, positions*s.run)
			}
			in, bias := unusual(r, images*positions*s.run), unusual(r, w.BiasLen())
			weights, out := unusual(r, w.Taps*s.run*width), guarded(r, images*positions*width)
			if r.IntN(3) == 0 {
				bias = nil
			}
			for k, v := range weights {
				if r.IntN(2) == 0 || i%2 == 0 { // else taps are hardly ever left out
					weights[k] = float32(math.Abs(float64(v)))
				}
			}
			e := randomEpilogue(r, len(out))
			from, to := r.IntN(positions), images*positions-r.IntN(positions)
			want := slices.Clone(out)
			packed := definition.packed(w, weights)
			for panel := range w.Panels() {
				for image := range images {
					o, x := image*positions*width, image*positions*s.run
					definition.Window(w.Whole(), panel, want[o:], in[x:], packed, bias, e.From(o),
						max(from-image*positions, 0), min(to-image*positions, positions), new(Workspace))
				}
			}
			for _, set := range fused() {
				if !set.Slabs() {
					continue
				}
				got, packed := slices.Clone(out), set.packed(w, weights)
				b := &Slab{Out: got, In: in, OutStep: positions * width, InStep: positions * s.run, Packed: packed,
					Bias: bias, Epilogue: e}
				for panel := range w.Panels() {
					b.Untrimmed = append(b.Untrimmed, !set.Trimmable(w, panel, packed))
				}
				cut := w.Panels() / 2
				for b.From = from; b.From < to; b.From = b.To {
					b.To = min(b.From+1+r.IntN(SlabPositions), to)
					for _, panels := range [][2]int{{0, cut}, {cut, w.Panels()}} {
						b.First, b.Last = panels[0], panels[1]
						set.WindowSlab(w, b, new(Workspace))
					}
				}
				if !sameBits(got, want) {
					t.Errorf("%s: %s: differs from the definition", set.Name, fmt.Sprint(s, width, bias == nil))
				}
			}
		}
	}
}
