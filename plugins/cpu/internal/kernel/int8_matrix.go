package kernel

import "unsafe"

// int8Matrix is the assembly of Int8 with matrix units: TDPBUSD multiplies 16 positions by 16 channels
// over 64 values at once.
type int8Matrix struct {
	// products is indexed by the number of tiles of positions minus 1, and by the number of tiles of channels
	// minus 1.
	products [2][2]int8Product
	// stage copies the runs of positions to contiguous memory; positions are pitch bytes
	// apart.
	stage func(staged *byte, in *byte, pad int, offs *int32, offStep, taps, run, pitch, positions int)
}

// int8Product computes tiles of sums. a is the positions, which are line bytes apart. w is the weights,
// with quads quadStep bytes apart. times is the number of consecutive columns of tiles of channels.
type int8Product func(sums *int32, a *byte, line int, w *int8, quadStep, steps int, start *int32, times int)

// stagedBytes is the approximate number of bytes that are staged at once. They should stay in the cache
// of a core together with some weights.
const stagedBytes = 256 << 10

// byMatrix computes positions [from, to) of panels [first, last).
func (c *int8Call) byMatrix(first, last, from, to int) {
	pitch := c.depth() * quadLen
	most := max(1, stagedBytes/max(pitch, 1)/MatrixPositions) * MatrixPositions
	for from < to {
		end := min(from+most, to)
		c.stage(pitch, from, end)
		for panel := first; panel < last; panel++ {
			for p := from; p < end; p += MatrixPositions {
				n := min(p+MatrixPositions, end)
				a, line := unsafe.SliceData(c.spare.staged[(p-from)*pitch:]), pitch
				if c.inPlace(p, n) {
					a, line = &c.in[c.Int8.in[p]], c.even
				}
				c.tiles(panel, a, line, (n-p+tileRows-1)/tileRows)
				c.store(panel, p, n)
			}
		}
		from = end
	}
}

// inPlace reports whether tiles read positions [from, to) from the image itself.
func (c *int8Call) inPlace(from, to int) bool { return c.even > 0 && to-from == MatrixPositions }

// stage copies the inputs of positions [from, to) to contiguous memory, unless tiles read
// them in place.
func (c *int8Call) stage(pitch, from, to int) {
	const behind = 2 * stepQuads * quadLen // whole vectors are copied, also past the end of a run
	if n := (to-from+tileRows-1)/tileRows*tileRows*pitch + behind; len(c.spare.staged) < n {
		c.spare.staged = make([]byte, n)
	}
	first := from
	if c.even > 0 {
		first = from + (to-from)/MatrixPositions*MatrixPositions
	}
	if c.Taps == 0 || first == to {
		return
	}
	in := bytesAt(c.in)
	pad := int(uintptr(unsafe.Pointer(bytesAt(c.pad))) - uintptr(unsafe.Pointer(in)))
	c.set.int8.matrix.stage(&c.spare.staged[(first-from)*pitch], in, pad, &c.Int8.in[first], 4*len(c.Out),
		c.Taps, quadLen*c.quads(), pitch, to-first)
}

// tiles computes the sums of one or two tiles of positions and a panel.
func (c *int8Call) tiles(panel int, a *byte, line, tiles int) {
	channel, width, _ := c.panel(panel)
	weights, products := c.packed[c.depth()*quadLen*channel:], &c.set.int8.matrix.products[tiles-1]
	steps, quadStep := c.depth()/stepQuads, quadLen*width
	blocks := width / Lanes
	w := unsafe.SliceData(weights)
	if pairs := blocks / 2; pairs > 0 {
		products[1](&c.spare.sums[0], a, line, w, quadStep, steps, &c.Start[channel], pairs)
	}
	if blocks%2 > 0 {
		at := (blocks - 1) * Lanes
		last := unsafe.SliceData(weights[min(at*quadLen, len(weights)):])
		products[0](&c.spare.sums[at], a, line, last, quadStep, steps, &c.Start[channel+at], 1)
	}
}
