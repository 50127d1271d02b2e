package convolution

import (
	"math"

	"github.com/bnctl/bnctl/device/class"
)

// inspect adds to suspects those tiles in rows [from, to) of the phase in the
// padded rows that windows must compute. Whether a tile is one depends on that tile
// alone: which tiles are inspected together depends on threads and neighbours.
func (t *tiles) inspect(from, to, first int) {
	per, wide, high := t.Side/2, t.wide/2+1, t.high/2+1
	b0, b1 := from*per, min(to*per+1, high)
	n := (b1 - b0) * wide
	if len(t.sums) < n {
		t.sums, t.most = make([]float32, n), make([]uint32, n)
	}
	for b := b0; b < b1; b++ {
		t.spread(class.BlockOf(b, t.high)-(from*t.Side-1), (b-b0)*wide, wide)
	}
	if allEven(t.sums[:n], t.most[:n]) {
		return
	}
	for y := from; y < to; y++ {
		at := (y*per - b0) * wide
		high := min(per+1, b1-y*per)
		for x := range t.columns {
			across := min(per+1, wide-x*per)
			end := at + x*per + (high-1)*wide + across
			if !t.even(t.sums[at+x*per:end], t.most[at+x*per:end], across, wide) {
				t.suspects = append(t.suspects, first+(y-from)*t.columns+x)
			}
		}
	}
}

// spread measures a row of blocks of two by two pixels, from a padded line on.
func (t *tiles) spread(line, at, wide int) {
	row := t.paddedRows[line*t.paddedStep()+t.c:]
	below := row[t.paddedStep():]
	measure := func(x, first, count int) {
		t.frame.Kernels.WinogradSpread(t.sums[at+first:], t.most[at+first:], row[x*t.c:], below[x*t.c:],
			2*t.c, count)
	}
	measure(0, 0, 1)
	if inner := (t.wide - 1) / 2; inner > 0 {
		measure(1, 1, inner)
	}
	if t.wide%2 == 0 {
		measure(t.wide-2, wide-1, 1)
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

// even reports whether a tile is a class.EvenTile, by the sums of its blocks:
// across of them in each of some rows of sums, which are step apart.
func (t *tiles) even(sums []float32, most []uint32, across, step int) bool {
	top, low := uint32(0), float32(math.Inf(1))
	for i := 0; i < len(sums); i += step {
		for _, m := range most[i : i+across] {
			top = max(top, m)
		}
		for _, s := range sums[i : i+across] {
			low = min(low, s)
		}
	}
	return class.EvenTile(low, math.Float32frombits(top))
}
