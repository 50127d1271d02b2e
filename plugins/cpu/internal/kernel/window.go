package kernel

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/bnctl/bnctl/device/class"
)

// Window is the geometry of a product between the windows of one image and a
// matrix of weights: convolution, its gradient for the input, and plain
// matrix products are all of this kind.
//
//	out[p][c] = sum over t, k of in[p,t][k] * weight[t][k][c]  (+ bias[c])
//
// p counts positions, t taps, and k the values of a run, which are contiguous
// in memory. The sum is one chain, t outside and k inside, from +0.
type Window struct {
	In    []int32 // [Taps][Positions]: where each run begins, in bytes from the image; negative: zeros
	Out   []int32 // [Positions]: where each result begins, in bytes from the image's result
	Taps  int
	Run   int // number of values that a tap reads at a position
	Width int // number of output channels

	inNeed, outNeed int // minimum numbers of values of an image and of its result
	zeros           []float32
	hulls           []hull   // for each position, the range of its taps; nil: all taps are inside the image
	seen            []uint64 // for each position, the set of taps inside the image; nil: all
	tileSize        []uint8  // for each position, the number of positions of its tile; all have the same taps
	side            bool     // results of neighbouring positions are contiguous
}

// NewWindow checks and completes a geometry.
func NewWindow(in, out []int32, taps, run, width int) *Window {
	if len(in) != taps*len(out) || run < 0 || width < 1 {
		panic(fmt.Sprintf("kernel.NewWindow: %d offsets for %d taps and %d positions, run %d, width %d",
			len(in), taps, len(out), run, width))
	}
	w := &Window{In: in, Out: out, Taps: taps, Run: run, Width: width, zeros: make([]float32, run+Lanes)}
	w.inNeed, w.outNeed = need(in, run), need(out, width)
	w.hulls = hullsOf(w)
	w.seen = sightsOf(w)
	w.tileSize = togetherOf(w.seen, SlabTile)
	w.side = true
	for p, o := range out {
		w.side = w.side && int(o) == 4*p*width
	}
	return w
}

// InRings returns the same geometry for an image and a result in ring buffers: a pixel is at its offset
// modulo the size of the buffer. in and out are the sizes in bytes; 0 means no ring.
func (w *Window) InRings(in, out int) *Window {
	return NewWindow(modulo(w.In, in), modulo(w.Out, out), w.Taps, w.Run, w.Width)
}

// Among returns the same geometry for results with more space between positions: newStep values instead of
// oldStep.
func (w *Window) Among(oldStep, newStep int) *Window {
	out := slices.Clone(w.Out)
	for i, o := range out {
		out[i] = o / int32(4*oldStep) * int32(4*newStep)
	}
	return NewWindow(w.In, out, w.Taps, w.Run, w.Width)
}

// modulo returns the offsets modulo ring, except for negative ones. If ring is 0, it changes no offset.
func modulo(offsets []int32, ring int) []int32 {
	if ring == 0 {
		return offsets
	}
	wrapped := slices.Clone(offsets)
	for i, o := range wrapped {
		if o >= 0 {
			wrapped[i] = o % int32(ring)
		}
	}
	return wrapped
}

// need returns how many values an image must have for runs of this length at these offsets.
func need(offsets []int32, run int) int {
	reach := 0
	for _, o := range offsets {
		if o >= 0 {
			reach = max(reach, int(o)/4+run)
		}
	}
	return reach
}

// Positions returns the number of positions.
func (w *Window) Positions() int { return len(w.Out) }

// Panels returns the number of panels.
func (w *Window) Panels() int { return (w.Width + PanelLanes - 1) / PanelLanes }

// panel returns the first channel of panel i, its number of channels in memory, and its number of real
// channels, without padding.
func (w *Window) panel(i int) (first, width, real int) {
	first = i * PanelLanes
	real = min(w.Width-first, PanelLanes)
	return first, padded(real), real
}

// PanelWidth returns the number of channels that panel i has in memory.
func (w *Window) PanelWidth(i int) int {
	_, width, _ := w.panel(i)
	return width
}

// padded rounds a number of channels up to whole lanes.
func padded(n int) int { return (n + Lanes - 1) / Lanes * Lanes }

// PackedLen returns the number of values in packed weights.
func (w *Window) PackedLen() int { return w.Taps * w.Run * padded(w.Width) }

// BiasLen returns the number of values that a bias must have: Width rounded
// up to whole lanes.
func (w *Window) BiasLen() int { return padded(w.Width) }

// Packed returns the range of packed weights that belongs to a panel.
func (w *Window) Packed(packed []float32, panel int) []float32 {
	first, width, _ := w.panel(panel)
	return packed[w.Taps*w.Run*first:][:w.Taps*w.Run*width]
}

// Pack fills the range of packed that belongs to one panel. Value t*Run+k of the order is
// the weight of tap t and value k; see Gather for its offset. Panels follow each other,
// each as the columns of its set: [Taps][Run][column].
func (s *Set) Pack(w *Window, panel int, packed, src []float32, order Order, step int, factor Factor) {
	first, width, real := w.panel(panel)
	if len(order.number) == 0 {
		return
	}
	values, column := w.Taps*w.Run, s.column(width)
	to := w.Packed(packed, panel)
	for c := 0; c < width; c += column {
		s.Gather(to[values*c:][:values*column], column, min(real-c, column), src[(first+c)*step:], order, step,
			factor.From(first+c))
	}
}

// column returns the number of channels that are adjacent in packed weights of a panel. This is the number
// that the largest tile reads, or half of it for a spread tile. With more, the rows would be so far apart
// that a level-one cache could hold only a quarter of them.
func (s *Set) column(width int) int {
	if s.window == nil {
		return width
	}
	if s.window[0].spread {
		return Lanes
	}
	return min(width, s.window[0].width)
}

// Unpack is the inverse of Pack. It writes sums of one panel, which Gradient has computed for some taps, to
// dst. The order covers these taps. Value i and channel c of the panel are written to order.at[i] + c*step.
func (s *Set) Unpack(w *Window, panel int, dst, sums []float32, order Order, step int) {
	_, width, real := w.panel(panel)
	s.Scatter(dst, order, step, sums, width, real)
}

// Workspace is a worker's memory for Window, and the weights that the worker will read
// next. The contents of the memory are undefined between calls.
type Workspace struct {
	tile   [WindowPositions * PanelLanes]float32
	staged []float32 // nil, or stagedLen values after the first use
	slab   *slabWorkspace
	// Next is weights that are needed soon after the call and should be prefetched meanwhile. It may be
	// nil. It does not affect results.
	Next []float32
	// Ahead is the memory that Gradient prefetches between its tiles.
	Ahead Prefetcher
}

// WindowPositions is the maximum number of positions in a tile of a Window.
const WindowPositions = 12

// Window computes positions [from, to) of one panel for one image. in and out
// begin at the image and at its result; bias is nil or has BiasLen values. If w
// Trims, the weights of the panel have to be Trimmable.
func (s *Set) Window(w *Window, panel int, out, in, packed, bias []float32, e Epilogue, from, to int,
	spare *Workspace) {
	if len(in) < w.inNeed || len(out) < w.outNeed || len(packed) < w.PackedLen() ||
		bias != nil && len(bias) < w.BiasLen() || e.lacks(w.outNeed) || from < 0 || to > w.Positions() {
		panic(fmt.Sprintf("kernel.Window: image of %d values, want %d; result of %d, plus %d, want %d; "+
			"weights of %d, want %d; bias of %d, want %d; positions [%d, %d) of %d", len(in), w.inNeed, len(out),
			len(e.Plus), w.outNeed, len(packed), w.PackedLen(), len(bias), w.BiasLen(), from, to, w.Positions()))
	}
	if from >= to {
		return
	}
	first, width, real := w.panel(panel)
	weights := packed[w.Taps*w.Run*first:]
	if bias != nil {
		bias = bias[first:]
	}
	if s.window != nil {
		c := windowCall{out: out[first:], in: in, weights: weights, bias: bias, epilogue: e.From(first),
			width: width, real: real, side: s.column(width), from: from, to: to, next: spare.Next}
		c.trimmed = c.trims(w)
		c.run(w, s.window, spare)
		return
	}
	for p := from; p < to; p++ {
		acc := spare.tile[:width]
		windowGeneric(w, acc, in, weights, p, s.fused)
		for c := range real {
			if bias != nil {
				acc[c] += bias[c]
			}
			i := int(w.Out[p])/4 + first + c
			out[i] = e.applyTo(i, acc[c])
		}
	}
}

// windowGeneric computes one position of one panel. It is the definition in plain Go.
func windowGeneric(w *Window, acc, in, weights []float32, p int, fused bool) {
	clear(acc)
	for t := range w.Taps {
		x := w.zeros[:w.Run]
		if o := int(w.In[t*len(w.Out)+p]); o >= 0 {
			x = in[o/4:][:w.Run]
		}
		for k, v := range x {
			row := weights[(t*w.Run+k)*len(acc):][:len(acc)]
			if fused {
				addFused(acc, row, v)
			} else {
				addRounded(acc, row, v)
			}
		}
	}
}

// addRounded adds v*row to acc, rounding products and sums.
func addRounded(acc, row []float32, v float32) {
	for c, r := range row {
		acc[c] += float32(v * r)
	}
}

// addFused adds v*row to acc. Each element is rounded once, as by an FMA instruction
// (class.Fuse).
func addFused(acc, row []float32, v float32) {
	for c, r := range row {
		acc[c] = class.Fuse(v, r, acc[c])
	}
}

// first returns the address of the first element, or nil.
func first(x []float32) *float32 { return unsafe.SliceData(x) }
