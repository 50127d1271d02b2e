package cpu

import "github.com/bnctl/bnctl/plugins/cpu/internal/kernel"

// strips reports whether the convolution is one that kernel.Strip is made for.
// Which kernels a layer uses is a function of its shape and of the kernel
// class: the order of their sums is another.
func (g *conv) strips(set *kernel.Set) bool {
	return set.Fused() && g.Groups == 1 && g.Kernel[1] == kernel.StripWidth && g.Stride == [2]int{1, 1} &&
		g.Dilation == [2]int{1, 1} && g.o == kernel.Lanes && g.c%8 == 0 && g.ow > 1
}

// flipped returns the convolution that computes the gradient for the input of
// one with stride 1, and whether there is one: padding may not exceed the kernel.
func (g *conv) flipped() (*conv, bool) {
	f := *g
	f.c, f.h, f.w, f.o, f.oh, f.ow = g.o, g.oh, g.ow, g.c, g.h, g.w
	f.cg, f.og = g.og, g.cg
	for i := range f.Pad {
		f.Pad[i] = g.Kernel[i%2] - 1 - g.Pad[i]
		if f.Pad[i] < 0 {
			return nil, false
		}
	}
	return &f, true
}

// strip returns the geometry of one row of the result.
func (g *conv) strip() kernel.Strip {
	return kernel.Strip{Rows: g.Kernel[0], Run: g.c, RowStep: g.paddedWidth() * g.c, GradStep: g.o}
}

// stripAt says where the weights of a strip lie in [O][C][kh][kw]; of the
// flipped convolution, whose weights they are the other way round, if back.
func (g *conv) stripAt(back bool) (at []int, step int) {
	for i := range g.Kernel[0] {
		for k := range g.c {
			for j := range kernel.StripWidth {
				if back {
					at = append(at, (k*g.o+1)*g.taps-1-(i*kernel.StripWidth+j))
				} else {
					at = append(at, k*g.taps+i*kernel.StripWidth+j)
				}
			}
		}
	}
	if back {
		return at, g.taps
	}
	return at, g.c * g.taps
}

// buildStrip is a convolution by strips; with back, the filter is that of the
// convolution whose gradient it computes.
func (c *compiler) buildStrip(g *conv, x *value, t *filter, y *value, back bool) action {
	what := "strip"
	if back {
		what = "strip back"
	}
	p := c.packFor(t, g.key(what), func() []packPart {
		at, step := g.stripAt(back)
		w := kernel.NewWindow(nil, nil, g.Kernel[0], kernel.StripWidth*g.c, g.o)
		return []packPart{{window: w, at: at, step: step}}
	})
	prepare := func(f *frame) error {
		t.prepare(f)
		p.fill(f, t)
		return nil
	}
	s, row := g.strip(), c.rowOf(x, y)
	work := y.count * g.taps * g.c / 100
	span := func(f *frame, w *worker, i, from, to int) {
		from, to = from/g.ow, to/g.ow
		o := row(f, w, i)
		padded := g.paddedRows(w, o.in, x.ringRows(), from, to-1)
		for y := from; y < to; y++ {
			at := y * g.ow * g.o
			f.kernels.Strip(s, o.out[at:], padded[y*s.RowStep:], p.parts[0].data, t.add, o.end.From(at),
				g.ow)
		}
	}
	return bySpan(action{prepare: prepare, work: work, span: span, positions: y.positions, step: g.ow,
		width: g.o, needs: g.needs})
}

// stripGradient computes weight gradients by strips: a task is one replica,
// and some rows of the kernel where that alone would leave workers idle.
func (g *conv) stripGradient(x, dy, dw *value) action {
	t := g.strip()
	size := kernel.StripWidth * g.c * g.o // of the sums of one row of the kernel
	return whole(func(f *frame) error {
		in, grad, out := f.f32(x), f.f32(dy), f.f32(dw)
		cuts := enough(g.Kernel[0], len(f.rows), f.threads())
		f.each(len(f.rows)*cuts, func(w *worker, task int) {
			cut, r := task%cuts, f.turn(task/cuts, len(f.rows))
			from, to := g.Kernel[0]*cut/cuts, g.Kernel[0]*(cut+1)/cuts
			own := w.floats((to-from)*size + g.paddedLen())
			sums, padded := own[:(to-from)*size], own[(to-from)*size:]
			clear(sums)
			for i := f.starts[r]; i < f.starts[r+1]; i++ {
				g.pad(padded, row(in, x, i))
				for y := range g.oh {
					d := row(grad, dy, i)[y*g.ow*g.o:]
					for k := from; k < to; k++ {
						f.kernels.StripGradient(t, sums[(k-from)*size:], padded[(y+k)*t.RowStep:], d, g.ow)
					}
				}
			}
			g.unpackStrip(row(out, dw, r), sums, from, to)
		})
		return nil
	})
}

// unpackStrip writes sums [to-from][kw][C][O] to rows [from, to) of the kernel
// of a gradient [O][C][kh][kw].
func (g *conv) unpackStrip(dw, sums []float32, from, to int) {
	for t := range (to - from) * kernel.StripWidth {
		for k := range g.c {
			for o, v := range sums[(t*g.c+k)*g.o:][:g.o] {
				dw[(o*g.c+k)*g.taps+from*kernel.StripWidth+t] = v
			}
		}
	}
}
