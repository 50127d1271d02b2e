package kernel

// matrixKernels is the assembly of MatrixBF16 and MatrixF32.
type matrixKernels struct {
	// products is indexed by the number of terms, by the number of tiles of positions minus 1, and by the
	// number of tiles of channels minus 1.
	products map[int][2][2]matrixProduct
	// gather copies, for each of at most 16 positions, the runs of all taps to contiguous memory. A run has
	// the given number of lines of 32 values.
	gather func(staged, in *uint16, offs *int32, offStep, taps, lines, positions int)
	// split splits the values of one position, 32 at a time, and stages them as three terms.
	split func(staged *uint16, x *float32, steps int, lanes *[2 * Lanes]uint32)
	// store completes the sums of positions and writes them. If flush is not 0, subnormal values become zeros.
	// If round is not 0, results are rounded to bfloat16.
	store func(out *float32, outs *int32, sums, scale, bias, plus, most *float32,
		flush, round, channels, positions int)
}

// matrixProduct computes the given number of AMX tiles of sums, positions by channels, with
// adjacent channels: [positions][PanelLanes]. line, tile and step are the fields of
// matrixTiles.
type matrixProduct func(sums *float32, a, b *uint16, steps, times, line, tile, step int)

// matrixTiles is the layout of tiles of positions: the number of bytes between two
// positions, two tiles and two steps.
type matrixTiles struct {
	at               []uint16
	line, tile, step int
}

// termOrder has the order in which products of the terms of positions and weights are added in every
// step: small ones first.
var termOrder = map[int][][2]int{
	1: {{0, 0}},
	3: {{0, 2}, {0, 1}, {1, 1}, {1, 0}, {2, 0}, {0, 0}},
}

// matrixCall has the operands of one call of MatrixBF16 or MatrixF32.
type matrixCall struct {
	*Matrix
	out      []float32
	packed   []uint16
	epilogue ScaledEpilogue
}

// matrixPanel computes positions [from, to) of a panel, at most MatrixPositions. It writes only positions
// with values in range.
func (s *Set) matrixPanel(c *matrixCall, panel int, a matrixTiles, from, to int, spare *MatrixWorkspace) {
	channel, width, _ := c.panel(panel)
	sums := spare.sums[:]
	if s.matrix != nil {
		s.matrix.multiply(c, sums, a, channel/Lanes, width/Lanes, (to-from+tileRows-1)/tileRows)
	} else {
		for i := range to - from {
			for b := range width / Lanes {
				c.multiplyTiles(sums[i*PanelLanes+b*Lanes:][:Lanes], a.at, c.packed, i, channel/Lanes+b)
			}
		}
	}
	p := from
	for _, apart := range spare.outside {
		if a := int(apart); a >= from && a < to {
			s.storeMatrix(c, panel, sums[(p-from)*PanelLanes:], p, a)
			p = a + 1
		}
	}
	if p < to {
		s.storeMatrix(c, panel, sums[(p-from)*PanelLanes:], p, to)
	}
}

// storeMatrix completes sums and writes them to positions [from, to).
func (s *Set) storeMatrix(c *matrixCall, panel int, sums []float32, from, to int) {
	if from == to {
		return
	}
	channel, _, real := c.panel(panel)
	f, out := c.epilogue.channels(channel), c.out[channel:]
	if s.matrix != nil {
		plus, most := f.assembly()
		s.matrix.store(&out[0], &c.Out[from], &sums[0], first(f.Scale), first(f.Bias), plus, most,
			oneIf(c.Terms == 1), oneIf(f.Round), real, to-from)
		return
	}
	for i := range to - from {
		for j, v := range sums[i*PanelLanes:][:real] {
			at := int(c.Out[from+i])/4 + j
			if c.Terms == 1 {
				out[at] = f.apply(j, at, v)
				continue
			}
			if f.Bias != nil {
				v += f.Bias[j]
			}
			out[at] = f.applyTo(at, v)
		}
	}
}

// oneIf returns 1 for true, 0 for false.
func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// multiply computes the sums of blocks of channels, two blocks at a time. If their number is odd, the
// last block is computed alone.
func (k *matrixKernels) multiply(c *matrixCall, sums []float32, a matrixTiles, block, blocks, tiles int) {
	products, packed := k.products[c.Terms][tiles-1], c.packed
	if c.Steps() == 0 { // without steps, the slices below have no first element
		a.at, packed = make([]uint16, 1), make([]uint16, 1)
	}
	if pairs := blocks / 2; pairs > 0 {
		products[1](&sums[0], &a.at[0], &packed[c.tile(block, 0, 0)], c.Steps(), pairs, a.line, a.tile, a.step)
	}
	if blocks%2 > 0 {
		block += blocks - 1
		products[0](&sums[(blocks-1)*Lanes], &a.at[0], &packed[c.tile(block, 0, 0)], c.Steps(), 1, a.line, a.tile,
			a.step)
	}
}

// multiplyTiles computes the sums of one position and one block of channels. It is the definition in plain
// Go. For every step and every pair of terms there are two chains of fused multiply-adds from +0: one for
// values with even numbers, and one for those with odd numbers. The sum of both chains is added. Subnormal
// operands and results are replaced by zeros. That is what TDPBF16PS does (Intel SDM, volume 2, "Operation"
// of TDPBF16PS).
func (m *Matrix) multiplyTiles(sums []float32, staged, packed []uint16, position, block int) {
	clear(sums)
	row := stagedAt(position)
	for step := range m.Steps() {
		for _, term := range termOrder[m.Terms] {
			a := staged[(step*m.Terms+term[0])*2*tileLen+row:][:tileValues]
			b := packed[m.tile(block, step, term[1]):][:tileLen]
			for c := range sums {
				var even, odd float32
				for k := 0; k < tileValues; k += 2 {
					pair := b[k/2*tileValues+2*c:][:2]
					even = fuseFlushed(widened(a[k]), widened(pair[0]), even)
					odd = fuseFlushed(widened(a[k+1]), widened(pair[1]), odd)
				}
				sums[c] = flushed(sums[c] + flushed(even+odd))
			}
		}
	}
}
