package convolution

import (
	"math"

	"github.com/bnctl/bnctl/device/class"
)

// What is inspected is blocks of 2 x 2 pixels over all channels: the sum of the sizes
// of their values, and the largest of them. A tile is even if every block that it sees
// adds up to its largest value at least, and that is neither tiny nor huge
// (class.EvenTile). Then the transform, whose errors are relative to the largest value
// of the tile, is no worse than a window, whose errors are relative to its products.
//
//	tile 6x6           blocks            neighbours share blocks, which are measured once
//	+--+--+--+         b00 b01 b02
//	|  |  |  |  -->    b10 b11 b12  -->  largest of 9 values, least of 9 sums
//	+--+--+--+         b20 b21 b22

// inspect adds to suspects those tiles in rows [from, to) of the phase in the
// padded rows that windows must compute. Whether a tile is one depends on that tile
// alone: which tiles are inspected together depends on threads and neighbours.
func (t *tiles) inspect(from, to, first int) {
	b0, b1 := t.BlocksOf(from*t.Side, t.high).From, t.BlocksOf((to-1)*t.Side, t.high).To
	columns := t.BlockCount(t.width)
	n := (b1 - b0) * columns
	if len(t.sums) < n {
		t.sums, t.most = make([]float32, n), make([]uint32, n)
	}
	for b := b0; b < b1; b++ {
		t.spread(t.BlockOf(b, t.high)-(from*t.Side-t.Border()), (b-b0)*columns, columns)
	}
	if allEven(t.sums[:n], t.most[:n]) {
		return
	}
	sizeOf := func(by, bx int) (sum float32, most uint32) {
		at := (by-b0)*columns + bx
		return t.sums[at], t.most[at]
	}
	for y := from; y < to; y++ {
		rows := t.BlocksOf(y*t.Side, t.high)
		for x := range t.columns {
			if !t.Even(y*t.Side, x*t.Side, rows, t.BlocksOf(x*t.Side, t.width), sizeOf) {
				t.suspects = append(t.suspects, first+(y-from)*t.columns+x)
			}
		}
	}
}

// spread measures a row of blocks of two by two pixels, from a padded line on.
func (t *tiles) spread(line, at, columns int) {
	row := t.paddedRows[line*t.paddedStep()+t.Border()*t.c:]
	below := row[t.paddedStep():]
	// Those that are not moved inside lie side by side.
	for b := 0; b < columns; {
		x, count := t.BlockOf(b, t.width), 1
		for b+count < columns && t.BlockOf(b+count, t.width) == x+2*count {
			count++
		}
		t.frame.Kernels.WinogradSpread(t.sums[at+b:], t.most[at+b:], row[x*t.c:], below[x*t.c:], 2*t.c, count)
		b += count
	}
}

// allEven reports whether every tile is even, whichever of these blocks it has:
// each block by itself is within the limits, and adds up to the largest value of all.
func allEven(sums []float32, most []uint32) bool {
	top, least, low := uint32(0), uint32(math.MaxUint32), float32(math.Inf(1))
	for i, m := range most {
		top, least, low = max(top, m), min(least, m), min(low, sums[i])
	}
	return top == 0 || math.Float32frombits(least) >= class.TileLeast &&
		class.EvenTile(low, math.Float32frombits(top))
}
