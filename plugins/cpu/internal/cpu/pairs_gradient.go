package cpu

import "github.com/bnctl/bnctl/plugins/cpu/internal/kernel"

// pairsGradients reports whether weight gradients of convolutions are computed
// by pairs of positions: a function of precision and kernel class.
func (d *Device) pairsGradients(w *kernel.Window) bool {
	return d.bf16 && d.kernels.Fused() && w.Run <= kernel.MostInterleaved
}

// manyTiles reports whether tiles of 4 by 4 fill the image and are so many that
// the weight gradient is faster by them than by pairs.
func (g *conv) manyTiles() bool {
	const side, many = 4, 32
	return g.oh%side == 0 && g.ow%side == 0 && g.oh*g.ow/(side*side) >= many
}

// segment is positions [from, to) of row i of a replica.
type segment struct{ i, from, to int }

// pairs returns the pairs of positions of the segment, the last of which may
// lack its second.
func (s segment) pairs() int { return (s.to - s.from + 1) / 2 }

// pairsSum computes some taps of one panel of a weight gradient. Blocks of
// positions, where images are small those of several, have both operands
// interleaved; then every tap adds the products of their pairs.
type pairsSum struct {
	*gradientOf
	kernels       *kernel.Set
	worker        *worker
	panel, t0, t1 int
	sums          []float32
	x, dy         func(i int) []float32 // row i

	lanes, width int // of the interleaved operands
	pairs        int // of the segments
	row          int // whose image x was the last to return
	image        []float32
}

// sumPairs is sum by pairs. Behind the last value of a row as many more must be
// readable as behind a gradient.
func (g *gradientOf) sumPairs(f *frame, w *worker, panel, t0, t1, rows int, sums, out []float32,
	x, dy func(i int) []float32) {
	win := g.window
	s := pairsSum{gradientOf: g, kernels: f.exe.device.kernels, worker: w, panel: panel, t0: t0, t1: t1,
		x: x, dy: dy, lanes: (win.Run + kernel.Lanes - 1) / kernel.Lanes * kernel.Lanes,
		width: win.PanelWidth(panel), row: -1}
	s.sums = sums[:(t1-t0)*win.Run*s.width]
	clear(s.sums)
	w.segments = w.segments[:0]
	for i := range rows {
		for from := 0; from < win.Positions(); from += gradientBlock {
			next := segment{i, from, min(from+gradientBlock, win.Positions())}
			if s.pairs+next.pairs() > gradientBlock/2 {
				s.add()
			}
			w.segments, s.pairs = append(w.segments, next), s.pairs+next.pairs()
		}
	}
	s.add()
	win.Unpack(panel, out, s.sums, g.at, g.step, t0, t1)
}

// add adds the products of the segments and forgets these.
func (s *pairsSum) add() {
	win := s.window
	halves := s.worker.halves(2 * s.pairs * (s.lanes + s.width))
	x, dy := halves[:2*s.pairs*s.lanes], halves[2*s.pairs*s.lanes:]
	at := 0
	for _, g := range s.worker.segments {
		grad := s.dy(g.i)[s.panel*kernel.PanelLanes:]
		s.kernels.InterleaveBF16(dy[2*at*s.width:], grad, win.Out[g.from:g.to], s.width)
		at += g.pairs()
	}
	for t := s.t0; t < s.t1; t++ {
		at = 0
		for _, g := range s.worker.segments {
			if g.i != s.row {
				s.row, s.image = g.i, s.x(g.i)
			}
			offsets := win.In[t*win.Positions():]
			s.kernels.InterleaveBF16(x[2*at*s.lanes:], s.image, offsets[g.from:g.to], s.lanes)
			at += g.pairs()
		}
		s.kernels.PairsGradient(s.sums[(t-s.t0)*win.Run*s.width:], win.Run, s.width, x, dy, s.pairs)
	}
	s.worker.segments, s.pairs = s.worker.segments[:0], 0
}
