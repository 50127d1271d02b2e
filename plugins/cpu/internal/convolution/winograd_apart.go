package convolution

import (
	"math"

	"github.com/bnctl/bnctl/device/class"
)

// The inspection measures blocks of 2 x 2 pixels over all channels: the sum of the
// magnitudes of their values, and the largest magnitude. A tile is even if the sum of every
// block that it reads is at least the largest value of the tile, and this value is neither
// tiny nor huge (class.EvenTile). The transform, with errors relative to the largest value
// of the tile, is then as precise as a window, with errors relative to its products.
//
// 	tile 6x6           blocks            neighbours share blocks, which are measured once
// 	+--+--+--+         b00 b01 b02
// 	|  |  |  |  -->    b10 b11 b12  -->  largest of 9 values, least of 9 sums
// 	+--+--+--+         b20 b21 b22

// inspect appends to suspects the tiles in rows [from, to) of the phase in paddedRows that must be
// computed by windows. Whether a tile is a suspect may depend only on that tile, because threads and
// neighbours determine which tiles are inspected together.
func (t *tiles) inspect(from, to, first int) {
	b0, b1 := t.k.BlocksOf(from*t.k.Side, t.k.high).From, t.k.BlocksOf((to-1)*t.k.Side, t.k.high).To
	columns := t.k.BlockCount(t.k.width)
	n := (b1 - b0) * columns
	if len(t.sums) < n {
		t.sums, t.largest = make([]float32, n), make([]uint32, n)
	}
	for b := b0; b < b1; b++ {
		t.spread(t.k.BlockOf(b, t.k.high)-(from*t.k.Side-t.k.Border()), (b-b0)*columns, columns)
	}
	if allEven(t.sums[:n], t.largest[:n]) {
		return
	}
	sizeOf := func(by, bx int) (sum float32, most uint32) {
		at := (by-b0)*columns + bx
		return t.sums[at], t.largest[at]
	}
	for y := from; y < to; y++ {
		rows := t.k.BlocksOf(y*t.k.Side, t.k.high)
		for x := range t.k.columns {
			if !t.k.Even(y*t.k.Side, x*t.k.Side, rows, t.k.BlocksOf(x*t.k.Side, t.k.width), sizeOf) {
				t.suspects = append(t.suspects, first+(y-from)*t.k.columns+x)
			}
		}
	}
}

// spread measures a row of blocks of two by two pixels, with the given padded line as the first.
func (t *tiles) spread(line, start, columns int) {
	row := t.paddedRows[line*t.k.paddedStep()+t.k.Border()*t.k.g.c:]
	below := row[t.k.paddedStep():]
	// A block that extends beyond the image is moved inside. All others are contiguous.
	for b := 0; b < columns; {
		x, count := t.k.BlockOf(b, t.k.width), 1
		for b+count < columns && t.k.BlockOf(b+count, t.k.width) == x+2*count {
			count++
		}
		t.frame.Kernels.WinogradSpread(t.sums[start+b:], t.largest[start+b:], row[x*t.k.g.c:], below[x*t.k.g.c:],
			2*t.k.g.c, count)
		b += count
	}
}

// allEven reports whether every possible tile of these blocks is even: each block is within the limits,
// and even the smallest sum is at least the largest value of all blocks.
func allEven(sums []float32, largest []uint32) bool {
	top, least, low := uint32(0), uint32(math.MaxUint32), float32(math.Inf(1))
	for i, m := range largest {
		top, least, low = max(top, m), min(least, m), min(low, sums[i])
	}
	return top == 0 || math.Float32frombits(least) >= class.TileLeast &&
		class.EvenTile(low, math.Float32frombits(top))
}
