package convolution

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Depthwise convolutions have no sum over channels: every channel is multiplied by separate
// taps. Vectors therefore run along the channels, and weights are stored as [taps][C].
//
// 	taps first    out[p][:] += in[p,t][:] * w[t][:]     for t in taps (any geometry)
// 	along rows    a block of up to 7 neighbouring results, with its columns held in
// 	              registers (kernel.DepthwiseRows: kernels 3 and 5 wide)

// pixels returns the geometry with all channels in one group, so that a run is a whole pixel.
func (g *Geometry) pixels() *Geometry {
	p := *g
	p.cg, p.og = g.c, g.o
	return &p
}

// tapsFirst copies weights from [C][taps] to [taps][C], multiplied by a factor. It copies only the given
// taps and the given number of channels from c on.
func (g *Geometry) tapsFirst(dst, weights []float32, taps []int, c, channels int, factor kernel.Factor) {
	for i, t := range taps {
		row := dst[i*channels:][:channels]
		for k := range row {
			row[k] = weights[(c+k)*g.taps+t]
		}
		factor.Apply(row, c)
	}
}

// buildDepthwise builds the convolution itself, tap by tap.
func buildDepthwise(c *plan.Compiler, g *Geometry, x *run.Value, t *filter, y *run.Value) run.Action {
	all := make([]int, g.taps)
	for t := range all {
		all[t] = t
	}
	return depthwiseAction(c, g, []phase{{g.pixels().forward(), all}}, x, t, y)
}

// buildDepthwiseBackward builds the gradient for the input, and the transposed convolution, phase by
// phase and tap by tap.
func buildDepthwiseBackward(c *plan.Compiler, g *Geometry, dy *run.Value, t *filter,
	dx *run.Value) run.Action {
	return depthwiseAction(c, g, g.pixels().backward(), dy, t, dx)
}

// buildDepthwiseRows builds a convolution along rows. If backward is set, it is the gradient of the
// convolution that has filter t.
func buildDepthwiseRows(c *plan.Compiler, g *Geometry, x *run.Value, t *filter, y *run.Value,
	backward bool) run.Action {
	r := kernel.DepthwiseRows{Channels: g.c, Height: g.h, Width: g.w, OutHeight: g.oh, OutWidth: g.ow,
		Kernel: g.Kernel, Stride: g.Stride, Skip: [2]int{g.Pad[0], g.Pad[1]}}
	taps := make([]int, g.taps)
	for i := range taps {
		taps[i] = i
		if backward {
			taps[i] = g.taps - 1 - i
		}
	}
	var weights []float32
	for _, channels := range c.Kernels().DepthwiseColumns(g.c) {
		weights = append(weights, make([]float32, g.taps*channels)...)
	}
	prepare := func(f *run.Frame) error {
		if t.prepare(f) {
			to := weights
			for first, channels := range f.Kernels.DepthwiseColumns(g.c) {
				g.tapsFirst(to, f.F32(t.weight), taps, first, channels, t.factor(f))
				to = to[g.taps*channels:]
			}
		}
		return nil
	}
	var rows *kernel.DepthwiseRows
	c.OnLayout(func() {
		r.InRing, r.OutRing = x.RingRows(), y.RingRows()
		rows = kernel.NewDepthwiseRows(r)
	})
	row := rowOf(c, x, y)
	return run.BySpan(&run.ByRows{Prepare: prepare, Work: y.Count * g.taps / 60, Spans: run.Spans{
		Positions: y.Positions, Step: g.ow, Width: y.Channels, Needs: g.Needs, Rings: true,
		Span: func(f *run.Frame, w *run.Worker, i, from, to int) {
			o := row(f, w, i)
			f.Kernels.DepthwiseRows(rows, o.out, o.in, weights, t.add, o.end, from/g.ow, to/g.ow)
		}}})
}

// If a gradient has a stride, its phases have windows of different sizes. A span of the result then does
// not correspond to a span of a phase, so the action can only compute whole rows.

// nearBand is the size in bytes of a band: the part of a result that all phases compute before the next
// part.
const nearBand = 128 << 10

// depthwiseAction computes rows of y, phase by phase.
func depthwiseAction(c *plan.Compiler, g *Geometry, phases []phase, x *run.Value, t *filter,
	y *run.Value) run.Action {
	phaseWeights := make([][]float32, len(phases))
	for i, p := range phases {
		phaseWeights[i] = make([]float32, len(p.taps)*g.c)
	}
	prepare := func(f *run.Frame) error {
		if !t.prepare(f) {
			return nil
		}
		for i, p := range phases {
			g.tapsFirst(phaseWeights[i], f.F32(t.weight), p.taps, 0, g.c, t.factor(f))
		}
		return nil
	}
	row := rowOf(c, x, y)
	work := y.Count * g.taps / 20
	do := func(f *run.Frame, w *run.Worker, i, k, from, to int) {
		o := row(f, w, i)
		f.Kernels.Depthwise(phases[k].window, o.out, o.in, phaseWeights[k], t.add, o.end, from, to)
	}
	if len(phases) == 1 {
		return run.BySpan(&run.ByRows{Prepare: prepare, Work: work, Spans: run.Spans{
			Positions: y.Positions, Step: positionStep, Width: y.Channels,
			Span: func(f *run.Frame, w *run.Worker, i, from, to int) { do(f, w, i, 0, from, to) }}})
	}
	// The results of the phases are interleaved. A band is some rows of the result: all phases complete a band
	// before the next begins.
	bands := max(1, 4*y.Count/nearBand)
	return &run.ByRows{Prepare: prepare, Work: work,
		Row: func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
			for band := range bands {
				for k, p := range phases {
					from, to := cutPositions(piece*bands+band, pieces*bands, p.window.Positions())
					do(f, w, i, k, from, to)
				}
			}
		}}
}

// nearGradient is the number of values of a gradient that all taps process before the next values. These
// values, and the part of the image that the taps read, should be in the nearest caches.
const nearGradient = 8 << 10

// buildDepthwiseWeight compiles weight gradients. A task processes all taps of a replica, or, if there
// are few replicas, the taps of a row of the kernel. It processes some positions of all its taps,
// continuing the chain of each tap, and meanwhile prefetches the next positions.
func (g *Geometry) buildDepthwiseWeight(c *plan.Compiler, x, dy, dw *run.Value) run.Action {
	window, chunks, some := g.pixels().forward(), chunksOf(dy.Positions), max(1, nearGradient/g.c)
	fresh, again := c.Kernels().DepthwiseSums(g.c)
	step := g.c + again
	reach := reaches(window, some)
	// add adds the products of row i to the sums of some taps. last reports that row i is
	// the last row.
	add := func(f *run.Frame, ahead *kernel.Prefetcher, sums []float32, first, i int, last bool) {
		in, grad := f.F32(x), f.F32(dy)
		for b, p := 0, 0; p < dy.Positions; b, p = b+1, p+some {
			ahead.Clear()
			switch next := p + some; {
			case next < dy.Positions:
				ahead.Add(bytesOf(run.Row(in, x, i), reach[b], reach[b+1]), cacheLine, cacheLine)
				ahead.Add(bytesOf(run.Row(grad, dy, i), next*g.c, min(next+some, dy.Positions)*g.c), cacheLine, cacheLine)
			case !last:
				ahead.Add(bytesOf(run.Row(in, x, i+1), 0, reach[0]), cacheLine, cacheLine)
				ahead.Add(bytesOf(run.Row(grad, dy, i+1), 0, min(some, dy.Positions)*g.c), cacheLine, cacheLine)
			}
			f.Kernels.DepthwiseGradient(window, first, len(sums)/step, sums, run.Row(in, x, i), run.Row(grad, dy, i),
				p, min(p+some, dy.Positions), ahead)
		}
	}
	return run.Whole(func(f *run.Frame) error {
		out, taps := f.F32(dw), g.taps
		if len(f.Rows)%f.Threads() != 0 {
			taps = g.Kernel[1]
		}
		splits := g.taps / taps
		f.Each(len(f.Rows)*splits, func(w *run.Worker, task int) {
			first, r := task%splits*taps, f.Turn(task/splits, len(f.Rows))
			n := taps * step
			sums := chunks.sum(f.Kernels, w.Floats(n*chunks.blocks(f.Rows[r])), n, f.Starts[r], f.Starts[r+1],
				func(sums []float32, from, to int) {
					for i := from; i < to; i++ {
						add(f, &w.Tile.Ahead, sums, first, i, i+1 == to)
					}
				})
			for t := range taps {
				for k := range g.c {
					at := t*step + k
					if k >= fresh {
						at += again
					}
					run.Row(out, dw, r)[k*g.taps+first+t] = sums[at]
				}
			}
		})
		return nil
	})
}

// cacheLine is the size of a cache line in bytes.
const cacheLine = 64

// reaches divides the positions of a window into parts of the given length. For each part it returns how
// many values from the beginning of an image have been read, at most, at the end of the part.
func reaches(w *kernel.Window, length int) (ends []int) {
	reach := 0
	for p := range w.Positions() {
		for t := range w.Taps {
			if at := w.In[t*w.Positions()+p]; at >= 0 {
				reach = max(reach, int(at)/4+w.Run)
			}
		}
		if (p+1)%length == 0 || p+1 == w.Positions() {
			ends = append(ends, reach)
		}
	}
	return ends
}
