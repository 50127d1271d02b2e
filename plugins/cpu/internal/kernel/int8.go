package kernel

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/bnctl/bnctl/device/class"
)

// Int8 is a Window over maps of bytes, with weights of int8:
//
//	sum[p][c] = start[c] + sum over t, k of in[p,t][k] * weight[t][k][c]
//
// Activations are uint8. A sum is int32 and exact, in any order; the caller guarantees that it does
// not overflow. Outside the image the byte of padding is read. Requantise converts a sum to a byte.
//
// Weights are stored in panels of up to PanelLanes output channels. Four values of a run (a quad) are
// adjacent; the last quad is filled with zeros. The quads of all taps follow each other, and are
// filled up to whole steps of 16:
//
//	quad 0   | c0: k0 k1 k2 k3 | c1: k0 k1 k2 k3 | ... of all channels of a column
//	quad 1   | c0: k4 k5 k6 k7 | ...
//
// One instruction multiplies and adds a quad per channel, and a matrix tile holds 16 quads of 16
// channels.
type Int8 struct {
	*Window
	in   []int32 // [Taps][Positions]: where each run begins, in bytes; negative: padding
	pad  []byte  // a run of padding
	even int     // bytes between positions, if there is one tap and the distance is constant; else 0
}

// quadLen is the number of values that are multiplied at once. stepQuads is the number of quads in a step.
const (
	quadLen   = 4
	stepQuads = 16
)

// NewInt8 returns the geometry of products of bytes over a window. Padding consists of bytes pad.
func NewInt8(w *Window, pad uint8) *Int8 {
	b := &Int8{Window: w, in: make([]int32, len(w.In))}
	for i, o := range w.In {
		b.in[i] = -1
		if o >= 0 {
			b.in[i] = o / 4
		}
	}
	b.pad = slices.Repeat([]byte{pad}, w.Run+2*stepQuads*quadLen)
	if w.Taps == 1 && len(b.in) > 1 {
		b.even = int(b.in[1] - b.in[0])
		for p := 1; p < len(b.in); p++ {
			if b.in[p-1] < 0 || int(b.in[p]-b.in[p-1]) != b.even {
				b.even = 0
				break
			}
		}
	}
	return b
}

// quads returns the number of quads in a run. depth returns the number of quads in all runs, in whole
// steps.
func (b *Int8) quads() int { return (b.Run + quadLen - 1) / quadLen }

func (b *Int8) depth() int {
	return (b.Taps*b.quads() + stepQuads - 1) / stepQuads * stepQuads
}

// PackedLen returns the number of bytes of packed weights.
func (b *Int8) PackedLen() int { return b.depth() * quadLen * padded(b.Width) }

// PackInt8 fills the range of packed, zeros so far, that belongs to one panel. The weight
// of tap t, value k and channel c is src[offsets[t*Run+k] + c*step].
func (s *Set) PackInt8(b *Int8, panel int, packed, src []int8, offsets []int, step int) {
	first, width, real := b.panel(panel)
	to := packed[b.depth()*quadLen*first:]
	for c := range real {
		column, lanes := s.int8Column(width, c)
		of := to[b.depth()*quadLen*column:]
		for t := range b.Taps {
			for k := range b.Run {
				quad := t*b.quads() + k/quadLen
				of[(quad*lanes+c-column)*quadLen+k%quadLen] = src[offsets[t*b.Run+k]+(first+c)*step]
			}
		}
	}
}

// int8Column returns the column of channels that includes channel c of a panel: the first channel of the
// column and its number of channels.
func (s *Set) int8Column(width, c int) (first, lanes int) {
	most := PanelLanes
	if s.int8 != nil {
		most = s.int8.column
	}
	first = c / most * most
	return first, min(most, width-first)
}

// StartInt8 returns the initial value of sums in Requantise. Kernels may subtract a number from every byte.
// To compensate, this number times the sum of the channel's weights is added to start.
func (s *Set) StartInt8(start, weights int32) int32 {
	if s.int8 != nil {
		start += s.int8.offset * weights
	}
	return start
}

// Requantise has the initial values of sums (StartInt8) and the parameters that convert
// sums to bytes: class.Int8.Requantise with the factor of the channel. Factors are finite.
type Requantise struct {
	class.Int8
	Start []int32   // initial value of the sums of each channel, BiasLen of them
	By    []float32 // factor of each channel, BiasLen of them
}

// upperBound returns the upper bound of a result before the zero point is added.
func upperBound(q class.Int8) float32 { return float32(q.Max - q.Zero) }

// Int8Workspace is a worker's memory for Int8. Its contents are undefined between calls.
type Int8Workspace struct {
	sums   [Int8Positions * PanelLanes]int32
	staged []byte
	taps   [mostTapsInt8]uintptr
	few    [2 * quadLen * Lanes]byte
	pairs  [][2]int64 // for Int8 without assembly: the weights of four channels
}

// Int8Positions is the number of positions that are computed before their sums are converted to bytes.
const Int8Positions = 48

// Bytes reports whether there is assembly for maps of bytes.
func (s *Set) Bytes() bool { return s.int8 != nil }

// Int8 computes positions [from, to) of panels [first, last) for one image. in and out
// begin at the image and at its result; 64 bytes after the image must be readable.
func (s *Set) Int8(b *Int8, first, last int, out, in []uint8, packed []int8, r Requantise, from, to int,
	spare *Int8Workspace) {
	c := int8Call{b, s, out, nil, in, packed, r, spare}
	c.run(first, last, len(out), from, to)
}

// Int8Float is like Int8 but with results of float32: float32(sum)*By[c].
func (s *Set) Int8Float(b *Int8, first, last int, out []float32, in []uint8, packed []int8, r Requantise,
	from, to int, spare *Int8Workspace) {
	c := int8Call{b, s, nil, out, in, packed, r, spare}
	c.run(first, last, len(out), from, to)
}

// int8Call is the state of one call of Int8.
type int8Call struct {
	*Int8
	set    *Set
	out    []uint8
	floats []float32 // the results, if they are not bytes; else nil
	in     []uint8
	packed []int8
	Requantise
	spare *Int8Workspace
}

// fewInt8 is a number of positions that leaves most of a matrix tile empty.
const fewInt8 = 3

// run computes positions [from, to) of panels [first, last). capacity is the number of
// elements of the result.
func (c *int8Call) run(first, last, capacity, from, to int) {
	b, r, in, packed := c.Int8, &c.Requantise, c.in, c.packed
	if len(in) < b.inNeed || capacity < b.outNeed || len(packed) < b.PackedLen() || from < 0 ||
		to > b.Positions() || len(r.Start) < b.BiasLen() || len(r.By) < b.BiasLen() {
		panic(fmt.Sprintf("kernel.Int8: image of %d bytes, want %d; result of %d, want %d; "+
			"weights of %d, want %d; starts of %d, factors of %d, want %d; positions [%d, %d) of %d",
			len(in), b.inNeed, capacity, b.outNeed, len(packed), b.PackedLen(), len(r.Start), len(r.By),
			b.BiasLen(), from, to, b.Positions()))
	}
	if k := c.set.int8; k != nil && k.matrix != nil && to-from > fewInt8 {
		c.byMatrix(first, last, from, to)
		return
	}
	for p := from; p < to; p += Int8Positions {
		for panel := first; panel < last; panel++ {
			c.block(panel, p, min(p+Int8Positions, to))
		}
	}
}

// block computes positions [from, to), at most Int8Positions, of a panel.
func (c *int8Call) block(panel, from, to int) {
	channel, width, _ := c.panel(panel)
	for at := 0; at < width; {
		column, lanes := c.set.int8Column(width, at)
		weights := c.packed[c.depth()*quadLen*(channel+column):]
		if c.set.int8 != nil {
			c.products(c.set.int8.tiles, weights, channel, column, lanes, from, to)
		} else {
			c.pairs(weights, column, lanes, channel+column, from, to)
		}
		at = column + lanes
	}
	c.store(panel, from, to)
}

// store converts the sums of positions [from, to) of a panel to bytes.
func (c *int8Call) store(panel, from, to int) {
	channel, _, real := c.panel(panel)
	if c.floats != nil {
		for p := from; p < to; p++ {
			y := c.floats[int(c.Out[p])/4+channel:][:real]
			for i, sum := range c.spare.sums[(p-from)*PanelLanes:][:real] {
				y[i] = float32(sum) * c.By[channel+i]
			}
		}
		return
	}
	if k := c.set.int8; k != nil {
		k.store(&c.out[channel], &c.Out[from], &c.spare.sums[0], &c.By[channel], upperBound(c.Requantise.Int8),
			int(c.Zero), int(c.Min), real, to-from)
		return
	}
	for p := from; p < to; p++ {
		y := c.out[int(c.Out[p])/4+channel:][:real]
		for i, sum := range c.spare.sums[(p-from)*PanelLanes:][:real] {
			y[i] = c.Requantise.Requantise(sum, c.By[channel+i])
		}
	}
}

// bytesAt returns the address of the first byte, or nil.
func bytesAt(x []byte) *byte { return unsafe.SliceData(x) }
