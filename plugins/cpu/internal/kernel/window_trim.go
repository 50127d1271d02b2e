package kernel

import (
	"math"
	"math/bits"
	"slices"
)

// hull is the range of taps [from, to) of a position, from the first tap inside the image to the last. If
// all taps are outside, to <= from.
type hull struct{ from, to int32 }

// join returns the smallest hull that contains both h and o.
func (h hull) join(o hull) hull { return hull{min(h.from, o.from), max(h.to, o.to)} }

// hullsOf returns the hull of every position. It returns nil if few taps are outside the hulls.
func hullsOf(w *Window) []hull {
	const least = 16 // the fraction of taps to leave out is at least 1 of 16
	hulls := make([]hull, len(w.Out))
	taps := 0
	for p := range hulls {
		h := hull{int32(w.Taps), 0}
		for t := range w.Taps {
			if w.In[t*len(w.Out)+p] >= 0 {
				h = h.join(hull{int32(t), int32(t + 1)})
			}
		}
		hulls[p], taps = h, taps+int(max(h.to-h.from, 0))
	}
	if all := w.Taps * len(w.Out); all-taps < all/least || all == taps {
		return nil
	}
	return hulls
}

// sightsOf returns, for every position, the set of taps that read inside the image. It returns nil if w has
// no hulls, because then no taps are left out.
func sightsOf(w *Window) []uint64 {
	if w.hulls == nil || w.Taps > 64 {
		return nil
	}
	seen := make([]uint64, len(w.Out))
	for t := range w.Taps {
		for p, o := range w.In[t*len(w.Out):][:len(w.Out)] {
			if o >= 0 {
				seen[p] |= 1 << t
			}
		}
	}
	return seen
}

// togetherOf returns for every position the size of the tile that begins there. The sizes minimise the
// time for this position and all later ones. A tile needs one turn for each tap that any of its positions
// reads. A turn takes at least the time of 4 positions.
func togetherOf(seen []uint64, largest int) []uint8 {
	const atLeast, perTile = 4, 1
	sizes, costs := make([]uint8, len(seen)), make([]int, len(seen)+1)
	for p := len(seen) - 1; p >= 0; p-- {
		taps := uint64(0)
		for n := 1; n <= min(largest, len(seen)-p); n++ {
			taps |= seen[p+n-1]
			cost := max(n, atLeast)*bits.OnesCount64(taps) + perTile + costs[p+n]
			if n == 1 || cost <= costs[p] {
				sizes[p], costs[p] = uint8(n), cost
			}
		}
	}
	return sizes
}

// Trims reports whether Window leaves out taps that read only padding.
func (w *Window) Trims() bool { return w.hulls != nil }

// Whole returns the same geometry, but no tap may be left out.
func (w *Window) Whole() *Window {
	whole := *w
	whole.hulls = nil
	return &whole
}

// Trimmable reports whether the packed weights of a panel allow it to skip taps: all are
// finite, and each tap has a weight with positive sign for every channel. Products with
// zeros then change a sum only from -0 to +0.
func (s *Set) Trimmable(w *Window, panel int, packed []float32) bool {
	weights := w.Packed(packed, panel)
	_, width, _ := w.panel(panel)
	column := s.column(width)
	for n := column * w.Taps * w.Run; len(weights) > 0; weights = weights[n:] {
		if !trimmable(weights[:n], w.Taps, w.Run, column) {
			return false
		}
	}
	return true
}

// trimmable does the same as Trimmable for a column, [taps][run][width].
func trimmable(weights []float32, taps, run, width int) bool {
	const sign, exponent = 1 << 31, 0xFF << 23
	signs := make([]uint32, width)
	for t := range taps {
		for c := range signs {
			signs[c] = sign
		}
		for k := range run {
			for c, v := range weights[(t*run+k)*width:][:width] {
				bits := math.Float32bits(v)
				signs[c] &= bits
				if bits&exponent == exponent {
					return false
				}
			}
		}
		if slices.Contains(signs, sign) {
			return false
		}
	}
	return true
}

// trims reports whether taps may be skipped in a call. To turn -0 into +0, +0 is added
// after them. With a bias of -0 the results could differ.
func (c *windowCall) trims(w *Window) bool {
	return w.hulls != nil && !hasNegativeZero(c.bias[:min(c.real, len(c.bias))])
}

// hasNegativeZero reports whether any of the values is -0.
func hasNegativeZero(x []float32) bool {
	return slices.ContainsFunc(x, func(v float32) bool { return v == 0 && math.Signbit(float64(v)) })
}

// tapsOf returns the range of taps that are computed for n positions from p on.
func (c *windowCall) tapsOf(w *Window, p, n int) hull {
	if !c.trimmed {
		return hull{0, int32(w.Taps)}
	}
	h := w.hulls[p]
	for _, o := range w.hulls[p+1 : p+n] {
		h = h.join(o)
	}
	return hull{min(h.from, h.to), h.to}
}

// noBias has zeros, for calls without a bias.
var noBias [PanelLanes]float32

// Seen returns a separate window for every tap, which has only the positions at which the tap reads inside
// the image. It returns nil if few positions can be left out.
func (w *Window) Seen() []*Window {
	const least = 16 // the fraction of positions to leave out is more than 1 of 16
	var taps []*Window
	seen := 0
	for t := range w.Taps {
		var in, out []int32
		for p, o := range w.In[t*len(w.Out):][:len(w.Out)] {
			if o >= 0 {
				in, out = append(in, o), append(out, w.Out[p])
			}
		}
		seen += len(out)
		taps = append(taps, NewWindow(in, out, 1, w.Run, w.Width))
	}
	if all := len(w.In); all-seen <= all/least {
		return nil
	}
	return taps
}

// Finite reports whether a result is finite in the channels of a panel, at all positions.
func (s *Set) Finite(w *Window, panel int, result []float32) bool {
	first, _, real := w.panel(panel)
	if real == w.Width && w.side {
		return s.AllFinite(result[:len(w.Out)*real])
	}
	for _, o := range w.Out {
		if !allFinite(result[int(o)/4+first:][:real]) {
			return false
		}
	}
	return true
}
