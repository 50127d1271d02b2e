package kernel

import (
	"fmt"
	"slices"
	"unsafe"
)

// DepthwiseInt8 is Int8 with one channel to a group: every channel is multiplied with its own taps. The
// window's runs are whole pixels.
//
//	sum[p][c] = start[c] + sum over t of in[p,t][c] * weight[t][c]
type DepthwiseInt8 struct {
	*Int8
	lanes int // channels of a block, in the order in which four registers of sums have them
	words bool
}

// mostTapsInt8 bounds the taps of assembly.
const mostTapsInt8 = 64

// NewDepthwiseInt8 returns the products over a window of whole pixels of bytes, with that byte as padding.
func (s *Set) NewDepthwiseInt8(w *Window, pad uint8) *DepthwiseInt8 {
	d := &DepthwiseInt8{Int8: NewInt8(w, pad)}
	if s.int8 != nil && w.Taps > 0 && d.tapQuads()*quadLen <= mostTapsInt8 {
		d.lanes, d.words = s.int8.lanes, s.int8.words
	}
	return d
}

// tapQuads returns how many quads the taps make.
func (d *DepthwiseInt8) tapQuads() int { return (d.Taps + quadLen - 1) / quadLen }

// Channels returns how many channels starts and factors have: whole blocks.
func (d *DepthwiseInt8) Channels() int {
	n := max(1, d.lanes)
	return (d.Width + n - 1) / n * n
}

// Offset returns where starts and factors have channel c: sums are in four registers, which packing
// interleaves by four.
func (d *DepthwiseInt8) Offset(c int) int {
	if d.lanes == 0 {
		return c
	}
	block, in := c/d.lanes*d.lanes, c%d.lanes
	return block + in/quadLen%quadLen*(d.lanes/quadLen) + in/(quadLen*quadLen)*quadLen + in%quadLen
}

// PackedLen returns the bytes of packed weights.
func (d *DepthwiseInt8) PackedLen() int {
	n := d.tapQuads() * quadLen * d.Channels()
	if d.words {
		n *= 2
	}
	return n
}

// Pack sets packed, zeros so far, to weights [C][Taps].
func (d *DepthwiseInt8) Pack(packed, weights []int8) {
	for c := range d.Width {
		for t := range d.Taps {
			w, at := weights[c*d.Taps+t], d.Offset(c)
			if d.lanes == 0 {
				packed[t*d.Width+c] = w
				continue
			}
			block, in := at/d.lanes*d.lanes, at%d.lanes
			quad := block*d.tapQuads() + t/quadLen*d.lanes
			if !d.words {
				packed[(quad+in)*quadLen+t%quadLen] = w
				continue
			}
			// [quad][4 registers][even, odd][channels][2 words]
			register := d.lanes / quadLen
			word := (quad+in/register*register)*2*quadLen + (t%2*register+in%register)*quadLen + t%quadLen/2*2
			packed[word], packed[word+1] = w, w>>7
		}
	}
}

// DepthwiseInt8 computes positions [from, to) for one image; behind the image 64 bytes may be read.
func (s *Set) DepthwiseInt8(d *DepthwiseInt8, out, in []uint8, packed []int8, r Requantise, from, to int,
	spare *Int8Workspace) {
	if len(in) < d.inNeed || len(out) < d.outNeed || len(packed) < d.PackedLen() || from < 0 ||
		to > d.Positions() || len(r.Start) < d.Channels() || len(r.By) < d.Channels() {
		panic(fmt.Sprintf("kernel.DepthwiseInt8: image of %d bytes, want %d; result of %d, want %d; "+
			"weights of %d, want %d; starts of %d, factors of %d, want %d; positions [%d, %d) of %d", len(in),
			d.inNeed, len(out), d.outNeed, len(packed), d.PackedLen(), len(r.Start), len(r.By), d.Channels(), from, to,
			d.Positions()))
	}
	switch {
	case from >= to:
	case d.lanes > 0:
		x := bytesAt(in)
		pad := int(uintptr(unsafe.Pointer(bytesAt(d.pad))) - uintptr(unsafe.Pointer(x)))
		s.int8.depthwise(&out[0], &d.Out[from], x, pad, &d.Int8.in[from], 4*len(d.Out), d.Taps, d.tapQuads(),
			&packed[0], &r.Start[0], &r.By[0], most(r.Int8), int(r.Zero), int(r.Min), d.Width, to-from, &spare.taps,
			&spare.few[0])
	default:
		for p := from; p < to; p++ {
			d.generic(out[int(d.Out[p])/4:], in, packed, r, p)
		}
	}
}

// generic computes one position: the definition.
func (d *DepthwiseInt8) generic(out, in []uint8, packed []int8, r Requantise, p int) {
	sums := slices.Clone(r.Start[:d.Width])
	for t := range d.Taps {
		x := d.pad
		if o := int(d.Int8.in[t*len(d.Out)+p]); o >= 0 {
			x = in[o:]
		}
		for c := range sums {
			sums[c] += int32(x[c]) * int32(packed[t*d.Width+c])
		}
	}
	for c, sum := range sums {
		out[c] = r.Requantise(sum, r.By[c])
	}
}
