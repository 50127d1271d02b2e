package kernel

// matrixKernels is the assembly of Matrix.
type matrixKernels struct {
	// products are by parts; tiles of positions, less 1; tiles of channels, less 1.
	products map[int][2][2]matrixProduct
	// split splits steps of a position in three, and finds the smallest size,
	// less 1 and modulo 2^32, and the largest in each of the lanes.
	split func(a *uint16, x *float32, steps int, extent *[2 * Lanes]uint32)
	// store ends the sums of positions and writes them. With flush subnormal values
	// are zeros; round is whether results are rounded to bfloat16.
	store func(out *float32, outs *int32, sums, scale, bias, plus, most *float32, flush, round, channels, positions int)
}

// matrixProduct computes sums of tiles of positions by tiles of channels, so
// many times: the channels beside each other, [positions][PanelLanes].
type matrixProduct func(sums *float32, a, b *uint16, steps, times int)

// partOrder is the order in which products of parts of positions and weights
// are added in every step: the small ones first.
var partOrder = map[int][][2]int{
	1: {{0, 0}},
	3: {{0, 2}, {0, 1}, {1, 1}, {1, 0}, {2, 0}, {0, 0}},
}

// matrixCall is what a panel is computed from, and to.
type matrixCall struct {
	out      []float32
	packed   []uint16
	finish   Finish
	from, to int // positions, at most MatrixPositions
}

// matrixPanel computes a panel from staged positions and writes it, but not
// those that lie apart.
func (s *Set) matrixPanel(m Matrix, panel int, c *matrixCall, staged []uint16, spare *MatrixScratch) {
	channel, width, _ := m.panel(panel)
	sums := spare.sums[:]
	if s.matrix != nil {
		s.matrix.multiply(m, sums, staged, c.packed, channel/Lanes, width/Lanes, (c.to-c.from+tileRows-1)/tileRows)
	} else {
		for i := range c.to - c.from {
			for b := range width / Lanes {
				m.multiplyTiles(sums[i*PanelLanes+b*Lanes:][:Lanes], staged, c.packed, i, channel/Lanes+b)
			}
		}
	}
	p := c.from
	for _, a := range append(spare.apart, int32(c.to)) {
		if int(a) < c.from || int(a) > c.to {
			continue
		}
		if p < int(a) {
			s.endMatrix(m, panel, c, sums[(p-c.from)*PanelLanes:], p, int(a))
		}
		p = int(a) + 1
	}
}

// endMatrix ends sums and writes them to positions [from, to).
func (s *Set) endMatrix(m Matrix, panel int, c *matrixCall, sums []float32, from, to int) {
	channel, _, real := m.panel(panel)
	f, out := c.finish.channels(channel), c.out[channel:]
	if s.matrix != nil {
		plus, most := f.assembly()
		s.matrix.store(&out[0], &m.Out[from], &sums[0], first(f.Scale), first(f.Bias), plus, most, oneIf(m.Parts == 1),
			oneIf(f.Round), real, to-from)
		return
	}
	for i := range to - from {
		for j, v := range sums[i*PanelLanes:][:real] {
			at := int(m.Out[from+i])/4 + j
			if m.Parts == 1 {
				out[at] = f.finish(j, at, v)
				continue
			}
			if f.Bias != nil {
				v += f.Bias[j]
			}
			out[at] = f.at(at, v)
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

// multiply computes the sums of blocks of channels: of pairs, and of the last
// alone if their number is odd.
func (k *matrixKernels) multiply(m Matrix, sums []float32, staged, packed []uint16, block, blocks, tiles int) {
	products := k.products[m.Parts][tiles-1]
	if m.Steps() == 0 { // there may be nothing to point at
		staged, packed = make([]uint16, 1), make([]uint16, 1)
	}
	if pairs := blocks / 2; pairs > 0 {
		products[1](&sums[0], &staged[0], &packed[m.tile(block, 0, 0)], m.Steps(), pairs)
	}
	if blocks%2 > 0 {
		block += blocks - 1
		products[0](&sums[(blocks-1)*Lanes], &staged[0], &packed[m.tile(block, 0, 0)], m.Steps(), 1)
	}
}

// multiplyTiles computes the sums of one position and one block of channels:
// the definition. In every step and product of parts, products of values with
// even and with odd numbers are two chains of fused multiply-adds from +0; their
// sum is added. Subnormal operands and results are zeros. That is what TDPBF16PS
// does (Intel SDM, volume 2, "Operation" of TDPBF16PS).
func (m Matrix) multiplyTiles(sums []float32, staged, packed []uint16, position, block int) {
	clear(sums)
	row := position/tileRows*tileLen + position%tileRows*tileValues
	for step := range m.Steps() {
		for _, part := range partOrder[m.Parts] {
			a := staged[(step*m.Parts+part[0])*2*tileLen+row:][:tileValues]
			b := packed[m.tile(block, step, part[1]):][:tileLen]
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
