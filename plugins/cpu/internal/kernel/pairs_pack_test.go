package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPackPairs checks that every set stores each weight, rounded, in the place that Pairs reads, and 0 for
// values without a weight and for unused channels. The weights are from a convolution, from its gradient,
// and from a convolution for images with an additional channel.
func TestPackPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, s := range []struct{ taps, run, width int }{
		{9, 16, 64}, {9, 34, 100}, {1, 500, 7}, {49, 4, 64}, {4, 2, 130}, {0, 0, 16}, {2, 0, 16},
	} {
		values := s.taps * s.run
		p := NewPairs(randomWindow(r, 5, s.taps, s.run, s.width, 0, 4*max(s.run, 1)))
		forward, backward, absent := make([]int, values), make([]int, values), make([]int, values)
		for i := range values {
			tap, k := i/s.run, i%s.run
			forward[i] = k*s.taps + tap
			backward[i] = k*s.taps*s.width + s.taps - 1 - tap
			absent[i] = forward[i]
			if k == s.run-1 {
				absent[i] = -1
			}
		}
		src := awkward(r, values*s.width)
		for _, c := range []struct {
			name    string
			offsets []int
			step    int
		}{{"forward", forward, values}, {"backward", backward, s.taps}, {"absent", absent, values}} {
			want := packedPairs(p, src, c.offsets, c.step)
			for _, set := range Sets() {
				order := NewPairsOrder(p, c.offsets)
				got, spare := make([]uint16, len(want)), guarded(r, order.Spare())
				for panel := range p.Panels() {
					set.PackPairs(p, panel, got, src, order, c.step, spare)
				}
				if !slices.EqualFunc(got, want, sameHalf) {
					t.Errorf("%s: %d taps, runs of %d, %d channels, %s: differs from the definition",
						set.Name, s.taps, s.run, s.width, c.name)
				}
			}
		}
	}
}

// packedPairs is the definition of PackPairs, for all panels.
func packedPairs(p *Pairs, src []float32, offsets []int, step int) []uint16 {
	packed := make([]uint16, p.PackedLen())
	for panel := range p.Panels() {
		first, width, real := p.panel(panel)
		of := packed[p.Taps*p.Run*first:]
		for i, a := range offsets {
			for c := range real {
				if a >= 0 {
					of[(i/2*width+c)*2+i%2] = bf16(src[a+(first+c)*step])
				}
			}
		}
	}
	return packed
}
