package kernel

import (
	"fmt"
	"slices"
	"unsafe"
)

// DepthwiseInt8 is like Int8 but with one channel per group: every channel is multiplied by separate taps.
// The window's runs are whole pixels.
//
//	sum[p][c] = start[c] + sum over t of in[p,t][c] * weight[t][c]
//
// Weights of a block are ordered by tap, or in quads of taps for sums in four registers. With quads the
// assembly processes several adjacent pixels at once if their channels together fill whole blocks and
// the pixels that they read are adjacent too. Weights, starts and factors are repeated for them.
type DepthwiseInt8 struct {
	*Int8
	lanes   int // channels of a block; 0: no assembly
	byTap   bool
	words   bool
	pixels  int     // pixels that are processed at once
	advance int     // bytes between the inputs of a pixel and of the next
	runs    []int32 // for each position: how many contiguous positions from it on have the same padding
}

const (
	mostTapsInt8  = 64       // maximum number of taps in assembly
	mostChunkInt8 = 2 << 10  // channels of the pixels that are processed at once
	mostRunInt8   = 16 << 10 // maximum number of bytes that a run of positions advances
)

// NewDepthwiseInt8 returns the geometry of products over a window of whole pixels. Padding consists of
// bytes pad.
func (s *Set) NewDepthwiseInt8(w *Window, pad uint8) *DepthwiseInt8 {
	d := &DepthwiseInt8{Int8: NewInt8(w, pad), pixels: 1}
	k := s.int8
	if k == nil || k.depthwise == nil && k.byTap == nil || w.Taps == 0 || d.tapQuads()*quadLen > mostTapsInt8 {
		return d
	}
	d.lanes, d.words, d.byTap = k.lanes, k.words, k.byTap != nil
	d.pad = slices.Repeat([]byte{pad}, mostRunInt8+w.Width+2*d.lanes)
	if d.byTap {
		return d
	}
	d.advance = d.findAdvance()
	d.runs = make([]int32, len(w.Out))
	for p := len(d.runs) - 1; p >= 0; p-- {
		d.runs[p] = 1
		if p+1 < len(d.runs) && d.alike(p) && (int(d.runs[p+1])+1)*d.advance <= mostRunInt8 {
			d.runs[p] += d.runs[p+1]
		}
	}
	if d.advance == w.Width {
		for n := 1; n*w.Width <= mostChunkInt8 && d.pixels == 1; n++ {
			if n*w.Width%d.lanes == 0 {
				d.pixels = n
			}
		}
	}
	return d
}

// findAdvance returns the distance between the inputs of the first two neighbours inside
// the image.
func (d *DepthwiseInt8) findAdvance() int {
	n := len(d.Out)
	for i := range d.Int8.in {
		if i%n+1 < n && d.Int8.in[i] >= 0 && d.Int8.in[i+1] > d.Int8.in[i] {
			return int(d.Int8.in[i+1] - d.Int8.in[i])
		}
	}
	return d.Width
}

// alike reports whether position p+1 has the same inputs and the same result as p, shifted by one position.
func (d *DepthwiseInt8) alike(p int) bool {
	n := len(d.Out)
	for t := range d.Taps {
		a, b := d.Int8.in[t*n+p], d.Int8.in[t*n+p+1]
		if (a < 0) != (b < 0) || a >= 0 && int(b-a) != d.advance {
			return false
		}
	}
	return int(d.Out[p+1]-d.Out[p]) == 4*d.Width
}

// tapQuads returns the number of quads that the taps fill.
func (d *DepthwiseInt8) tapQuads() int { return (d.Taps + quadLen - 1) / quadLen }

// Channels returns how many starts and factors are needed. They fill whole blocks of channels.
func (d *DepthwiseInt8) Channels() int {
	n := max(1, d.lanes)
	return (d.pixels*d.Width + n - 1) / n * n
}

// Set sets the start and the factor of channel c.
func (d *DepthwiseInt8) Set(r Requantise, c int, start int32, factor float32) {
	for i := range d.pixels {
		at := d.offset(i*d.Width + c)
		r.Start[at], r.By[at] = start, factor
	}
}

// offset returns the offset of channel c in starts and factors, which have the channels of all pixels that
// are processed at once. With quads, sums are in four registers, and packing interleaves these by four.
func (d *DepthwiseInt8) offset(c int) int {
	if d.lanes == 0 || d.byTap {
		return c
	}
	block, in := c/d.lanes*d.lanes, c%d.lanes
	return block + in/quadLen%quadLen*(d.lanes/quadLen) + in/(quadLen*quadLen)*quadLen + in%quadLen
}

// PackedLen returns the size of the packed weights in bytes.
func (d *DepthwiseInt8) PackedLen() int {
	n := d.tapQuads() * quadLen * d.Channels()
	if d.words {
		n *= 2
	}
	return n
}

// Pack copies weights, [C][Taps], to packed, which has only zeros before.
func (d *DepthwiseInt8) Pack(packed, weights []int8) {
	for c := range d.pixels * d.Width {
		for t := range d.Taps {
			w, at := weights[c%d.Width*d.Taps+t], d.offset(c)
			if d.lanes == 0 {
				packed[t*d.Width+c] = w
				continue
			}
			block, in := at/d.lanes*d.lanes, at%d.lanes
			if d.byTap {
				packed[block*d.Taps+t*d.lanes+in] = w
				continue
			}
			quad := block*d.tapQuads() + t/quadLen*d.lanes
			if !d.words {
				packed[(quad+in)*quadLen+t%quadLen] = w
				continue
			}
			// The layout is [quad][4 registers][even, odd][channels][2 words].
			register := d.lanes / quadLen
			word := (quad+in/register*register)*2*quadLen + (t%2*register+in%register)*quadLen + t%quadLen/2*2
			packed[word], packed[word+1] = w, w>>7
		}
	}
}

// DepthwiseInt8 computes positions [from, to) for one image; 64 bytes after the image must
// be readable.
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
		if d.byTap {
			s.int8.byTap(&out[0], &d.Out[from], x, pad, &d.Int8.in[from], 4*len(d.Out), d.Taps, &packed[0],
				&r.Start[0], &r.By[0], upperBound(r.Int8), int(r.Zero), int(r.Min), d.Width, to-from, &spare.taps,
				&spare.few[0])
			return
		}
		s.int8.depthwise(&out[0], &d.Out[from], x, pad, &d.Int8.in[from], 4*len(d.Out), d.Taps, d.tapQuads(),
			&packed[0], &r.Start[0], &r.By[0], upperBound(r.Int8), int(r.Zero), int(r.Min), d.Width, d.pixels*d.Width,
			d.pixels*d.advance, &d.runs[from], to-from, &spare.taps, &spare.few[0])
	default:
		for p := from; p < to; p++ {
			d.generic(out[int(d.Out[p])/4:], in, packed, r, p, spare)
		}
	}
}

// generic computes one position. It is the definition in plain Go.
func (d *DepthwiseInt8) generic(out, in []uint8, packed []int8, r Requantise, p int, spare *Int8Workspace) {
	for first := 0; first < d.Width; first += len(spare.sums) {
		sums := spare.sums[:min(len(spare.sums), d.Width-first)]
		copy(sums, r.Start[first:])
		for t := range d.Taps {
			x := d.pad
			if o := int(d.Int8.in[t*len(d.Out)+p]); o >= 0 {
				x = in[o:]
			}
			x, w := x[first:][:len(sums)], packed[t*d.Width+first:][:len(sums)]
			for c := range sums {
				sums[c] += int32(x[c]) * int32(w[c])
			}
		}
		for c, sum := range sums {
			out[first+c] = r.Requantise(sum, r.By[first+c])
		}
	}
}
