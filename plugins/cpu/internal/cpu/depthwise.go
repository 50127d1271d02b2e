package cpu

import "github.com/bnctl/bnctl/plugins/cpu/internal/kernel"

// depthwise reports whether every channel is convolved with a kernel of its own.
func (g *conv) depthwise() bool { return g.cg == 1 && g.og == 1 && g.Groups > 1 }

// pixels returns the geometry as if there were one group: runs are whole pixels.
func (g *conv) pixels() *conv {
	p := *g
	p.cg, p.og = g.c, g.o
	return &p
}

// tapsFirst copies the weights [C][taps] of some taps to [those taps][C],
// with a factor.
func (g *conv) tapsFirst(to, weights []float32, taps []int, factor kernel.Factor) {
	for i, t := range taps {
		row := to[i*g.c:][:g.c]
		for c := range row {
			row[c] = weights[c*g.taps+t]
		}
		factor.Apply(row, 0)
	}
}

// alongRows returns the convolution as one along the rows of an image, and
// whether it can be one.
func (g *conv) alongRows() (kernel.DepthwiseRows, bool) {
	r := kernel.DepthwiseRows{Channels: g.c, Height: g.h, Width: g.w, OutHeight: g.oh, OutWidth: g.ow,
		Kernel: g.Kernel, Stride: g.Stride, Skip: [2]int{g.Pad[0], g.Pad[1]}}
	return r, g.Dilation == [2]int{1, 1} && g.ow > 0 && r.Possible()
}

// buildDepthwise is the convolution itself.
func (c *compiler) buildDepthwise(g *conv, x *value, t *filter, y *value) action {
	if r, ok := g.alongRows(); ok {
		return c.depthwiseRows(g, r, x, t, y, false)
	}
	all := make([]int, g.taps)
	for t := range all {
		all[t] = t
	}
	return c.depthwiseAction(g, []phase{{g.pixels().forward(), all}}, x, t, y)
}

// buildDepthwiseBackward is the gradient for the input, and the transposed convolution.
func (c *compiler) buildDepthwiseBackward(g *conv, dy *value, t *filter, dx *value) action {
	if back, ok := g.flipped(); ok && g.Stride == [2]int{1, 1} {
		if r, ok := back.alongRows(); ok {
			return c.depthwiseRows(back, r, dy, t, dx, true)
		}
	}
	return c.depthwiseAction(g, g.pixels().backward(), dy, t, dx)
}

// depthwiseRows is a convolution along rows; with back, the filter is that of the
// convolution whose gradient it computes.
func (c *compiler) depthwiseRows(g *conv, r kernel.DepthwiseRows, x *value, t *filter, y *value,
	back bool) action {
	taps := make([]int, g.taps)
	for i := range taps {
		taps[i] = i
		if back {
			taps[i] = g.taps - 1 - i
		}
	}
	weights := make([]float32, g.taps*g.c)
	prepare := func(f *frame) error {
		if t.prepare(f) {
			g.tapsFirst(weights, f.f32(t.weight), taps, t.factor(f))
		}
		return nil
	}
	var rows *kernel.DepthwiseRows
	c.after = append(c.after, func() {
		r.InRing, r.OutRing = x.ringRows(), y.ringRows()
		rows = kernel.NewDepthwiseRows(r)
	})
	row := c.rowOf(x, y)
	return bySpan(action{prepare: prepare, work: y.count * g.taps / 60, positions: y.positions, step: g.ow,
		width: y.channels, needs: g.needs, rings: true, span: func(f *frame, w *worker, i, from, to int) {
			o := row(f, w, i)
			f.kernels.DepthwiseRows(rows, o.out, o.in, weights, t.add, o.end, from/g.ow, to/g.ow)
		}})
}

// depthwiseAction computes rows of y, phase by phase.
func (c *compiler) depthwiseAction(g *conv, phases []phase, x *value, t *filter, y *value) action {
	parts := make([][]float32, len(phases))
	for i, p := range phases {
		parts[i] = make([]float32, len(p.taps)*g.c)
	}
	prepare := func(f *frame) error {
		if !t.prepare(f) {
			return nil
		}
		for i, p := range phases {
			g.tapsFirst(parts[i], f.f32(t.weight), p.taps, t.factor(f))
		}
		return nil
	}
	row := c.rowOf(x, y)
	work := y.count * g.taps / 20
	do := func(f *frame, w *worker, i, k, from, to int) {
		o := row(f, w, i)
		f.kernels.Depthwise(phases[k].window, o.out, o.in, parts[k], t.add, o.end, from, to)
	}
	if len(phases) == 1 {
		return bySpan(action{prepare: prepare, work: work, positions: y.positions, step: positionStep,
			width: y.channels, span: func(f *frame, w *worker, i, from, to int) { do(f, w, i, 0, from, to) }})
	}
	return action{prepare: prepare, work: work, row: func(f *frame, w *worker, i, piece, pieces int) {
		for k, p := range phases {
			from, to := cutPositions(piece, pieces, p.window.Positions())
			do(f, w, i, k, from, to)
		}
	}}
}

// buildDepthwiseWeight computes weight gradients, a task for each tap of each replica.
func (g *conv) buildDepthwiseWeight(x, dy, dw *value) action {
	window := g.pixels().forward()
	return whole(func(f *frame) error {
		in, grad, out := f.f32(x), f.f32(dy), f.f32(dw)
		f.each(len(f.rows)*g.taps, func(w *worker, task int) {
			t, r := task%g.taps, f.turn(task/g.taps, len(f.rows))
			sum := w.floats(g.c)
			clear(sum)
			for i := f.starts[r]; i < f.starts[r+1]; i++ {
				f.kernels.DepthwiseGradient(window, t, sum, row(in, x, i), row(grad, dy, i),
					0, window.Positions())
			}
			for c, v := range sum {
				row(out, dw, r)[c*g.taps+t] = v
			}
		})
		return nil
	})
}
