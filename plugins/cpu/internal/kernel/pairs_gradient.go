package kernel

import (
	"fmt"
	"unsafe"
)

// InterleaveBF16 takes the runs of values that begin at offsets, in bytes from
// the image, two after two, and sets dst, [pairs][lanes][2], to the pairs of
// their values; a last run without a partner and negative offsets are paired
// with zeros. lanes is the length of a run rounded up to whole Lanes: so many
// values must be readable at every offset, also behind the last of in. They are
// bfloat16 already.
func (s *Set) InterleaveBF16(dst []uint16, in []float32, offsets []int32, lanes int) {
	pairs := len(offsets) / 2
	if len(offsets)%2 != 0 {
		last := [2]int32{offsets[2*pairs], -1}
		s.interleave(dst[2*lanes*pairs:][:2*lanes], in, last[:], lanes)
	}
	if pairs > 0 {
		s.interleave(dst[:2*lanes*pairs], in, offsets[:2*pairs], lanes)
	}
}

// zeroRun is a run of zeros for interleaving.
var zeroRun [MostInterleaved]float32

// MostInterleaved is the largest number of lanes of InterleaveBF16.
const MostInterleaved = 1 << 13

func (s *Set) interleave(dst []uint16, in []float32, offsets []int32, lanes int) {
	if lanes%Lanes != 0 || lanes < 1 || lanes > MostInterleaved {
		panic(fmt.Sprintf("kernel.InterleaveBF16: %d lanes", lanes))
	}
	if assembly := s.pairsGradients.interleave; assembly != nil {
		zero := int(uintptr(unsafe.Pointer(&zeroRun)) - uintptr(unsafe.Pointer(first(in))))
		assembly(&dst[0], first(in), zero, &offsets[0], len(offsets)/2, lanes)
		return
	}
	for i, o := range offsets {
		run := zeroRun[:lanes]
		if o >= 0 {
			run = unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(first(in)), o)), lanes)
		}
		to := dst[i/2*2*lanes+i%2:]
		for k, v := range run {
			to[2*k] = bf16(v)
		}
	}
}

// PairsGradient adds to sums, [run][width], the products of pairs of positions:
//
//	sums[k][c] += sum over q of x[q][k]*grad[q][c]
//
// Operands are made by InterleaveBF16, x of runs and grad of width channels,
// which are whole Lanes. Every element is one chain over the pairs, the second
// value of each before the first, with the roundings of Pairs; it goes on from
// call to call.
func (s *Set) PairsGradient(sums []float32, run, width int, x, grad []uint16, pairs int) {
	if len(sums) < run*width || len(x) < 2*pairs*padded(run) || len(grad) < 2*pairs*width || width%Lanes != 0 {
		panic(fmt.Sprintf("kernel.PairsGradient: %d sums for %d by %d; %d pairs of %d and %d values", len(sums),
			run, width, pairs, len(x), len(grad)))
	}
	if pairs == 0 || run == 0 {
		return
	}
	if tiles := s.pairsGradients.tiles; tiles != nil {
		pairsGradientCall{sums, x, grad, run, width, pairs}.run(tiles)
		return
	}
	for q := range pairs {
		for k := range run {
			row := sums[k*width:][:width]
			for _, half := range []int{1, 0} {
				v := widened(x[2*(q*padded(run)+k)+half])
				for c := range row {
					row[c] = fuseFlushed(v, widened(grad[2*(q*width+c)+half]), row[c])
				}
			}
		}
	}
}

// pairsGradients is the assembly for PairsGradient.
type pairsGradients struct {
	tiles      []pairsGradientTiles // widest first
	interleave func(dst *uint16, in *float32, zero int, offs *int32, pairs int, lanes int)
}

// pairsGradientTiles are the tiles of so many channels, as gradientTiles are.
type pairsGradientTiles struct {
	width int
	tiles []sizedPairsGradient
}

// sizedPairsGradient is a tile for so many values of a run.
type sizedPairsGradient struct {
	values int
	tile   func(sum *float32, sumStep int, x *uint16, xStep int, grad *uint16, gradStep int, pairs int)
}

// pairsGradientCall is what one call of PairsGradient works on.
type pairsGradientCall struct {
	sums                []float32
	x, grad             []uint16
	length, wide, pairs int
}

// run walks over the sums in tiles.
func (c pairsGradientCall) run(choice []pairsGradientTiles) {
	for at := 0; at < c.wide; {
		for choice[0].width > c.wide-at {
			choice = choice[1:]
		}
		tiles := choice[0].tiles
		for k := 0; k < c.length; {
			i := 0
			for i < len(tiles)-1 && !fits(tiles[i].values, tiles[i+1].values, c.length-k) {
				i++
			}
			tiles[i].tile(&c.sums[k*c.wide+at], 4*c.wide, &c.x[2*k], 4*padded(c.length), &c.grad[2*at],
				4*c.wide, c.pairs)
			k += tiles[i].values
		}
		at += choice[0].width
	}
}
