package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// dilatedWindow is a convolution of 3 by 3 of an image of side x side pixels, with
// padding equal to its dilation.
func dilatedWindow(side, dilation, run, width int) *Window {
	in, out := make([]int32, 9*side*side), make([]int32, side*side)
	for p := range out {
		out[p] = int32(4 * p * width)
		for t := range 9 {
			y, x := p/side+(t/3-1)*dilation, p%side+(t%3-1)*dilation
			if in[t*len(out)+p] = -1; y >= 0 && y < side && x >= 0 && x < side {
				in[t*len(out)+p] = int32(4 * run * (y*side + x))
			}
		}
	}
	return NewWindow(in, out, 9, run, width)
}

// TestWindowTrims checks that leaving out taps that read only padding changes no bit. This includes
// products so small that a sum is -0, weights that are not finite, and biases of -0.
func TestWindowTrims(t *testing.T) {
	if dilatedWindow(64, 1, 1, 1).Trims() || !dilatedWindow(8, 1, 1, 1).Trims() {
		t.Error("want taps left out where that saves much, and no others")
	}
	r := rand.New(rand.NewPCG(2, 3))
	trimmable := 0
	for i := range 200 {
		side := 4 + r.IntN(10)
		w := dilatedWindow(side, side/4+r.IntN(side), 1+r.IntN(20), 1+r.IntN(80))
		in, out := unusual(r, side*side*w.Run), guarded(r, side*side*w.Width)
		src, packed := unusual(r, 9*w.Run*w.Width), make([]float32, w.PackedLen())
		offsets := make([]int, 9*w.Run)
		for k := range offsets {
			offsets[k] = k
		}
		bias := unusual(r, w.BiasLen())
		if i%2 == 0 {
			bias = nil
		}
		from, e := r.IntN(side), randomEpilogue(r, len(out))
		run := func(set *Set) []float32 {
			got := slices.Clone(out)
			for panel := range w.Panels() {
				set.Pack(w, panel, packed, src, NewOrder(offsets), len(offsets), Factor{})
				use := w
				if !set.Trimmable(w, panel, packed) {
					use = w.Whole()
				} else if set == definition && w.Trims() {
					trimmable++
				}
				set.Window(use, panel, got, in, packed, bias, e, from, w.Positions(), new(Workspace))
			}
			return got
		}
		want := run(definition)
		for _, set := range Sets() {
			if set.fused && !sameBits(run(set), want) {
				t.Errorf("%s: case %d: side %d, %+v: differs from the definition", set.Name, i, side,
					fmt.Sprint(w.Run, w.Width, bias))
			}
		}
	}
	if trimmable < 20 {
		t.Errorf("%d panels were trimmable", trimmable)
	}
}

// unusual returns values of one of several kinds: usual ones, tiny ones, zeros of both signs,
// and some that are infinite.
func unusual(r *rand.Rand, n int) []float32 {
	v, kind := guarded(r, n), r.IntN(5)
	for i := range v {
		switch kind {
		case 1, 2:
			v[i] *= 1e-30
		case 3:
			v[i] = float32(math.Copysign(0, float64(v[i])))
		case 4:
			if r.IntN(1+n/3) == 0 {
				v[i] = float32(math.Inf(1))
			}
		}
	}
	return v
}
