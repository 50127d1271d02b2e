package convolution

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// A direct convolution reads a padded image line by line and fetches every value once
// for all three columns of the kernel, which makes it quicker than windows where there
// are few channels.
//
//	padded line   | x0 | x1 | x2 | x3 | x4 |         result p = 1:
//	kernel row    | j0   j1   j2 |                    x1*j0 + x2*j1 + x3*j2
//
// The gradient for the input is the direct convolution of the flipped geometry: input and output change
// places, and the kernel is turned by half a turn.

// flipped returns the convolution that computes the gradient for the input of a convolution with stride
// 1. It returns false if the padding exceeds the kernel.
func (g *Geometry) flipped() (*Geometry, bool) {
	f := *g
	f.c, f.h, f.w, f.o, f.oh, f.ow = g.o, g.oh, g.ow, g.c, g.h, g.w
	f.cg, f.og = g.og, g.cg
	for i := range f.Pad {
		f.Pad[i] = (g.Kernel[i%2]-1)*g.Dilation[i%2] - g.Pad[i]
		if f.Pad[i] < 0 {
			return nil, false
		}
	}
	return &f, true
}

// directRow returns the geometry of one row of the result.
func (g *Geometry) directRow() kernel.Direct {
	return kernel.Direct{Rows: g.Kernel[0], Run: g.c, RowStep: g.paddedWidth() * g.c, GradStep: g.o}
}

// directAt returns the offsets of the weights of a direct convolution in [O][C][kh][kw]. If
// backward is set, it returns the offsets for the flipped convolution, in reverse order.
func (g *Geometry) directAt(backward bool) (offsets []int, step int) {
	for i := range g.Kernel[0] {
		for k := range g.c {
			for j := range kernel.DirectWidth {
				if backward {
					offsets = append(offsets, (k*g.o+1)*g.taps-1-(i*kernel.DirectWidth+j))
				} else {
					offsets = append(offsets, k*g.taps+i*kernel.DirectWidth+j)
				}
			}
		}
	}
	if backward {
		return offsets, g.taps
	}
	return offsets, g.c * g.taps
}

// buildDirect builds a direct convolution. If backward is set, it is the gradient of the convolution that has
// filter t.
func buildDirect(c *plan.Compiler, g *Geometry, x *run.Value, t *filter, y *run.Value,
	backward bool) run.Action {
	key := "direct"
	if backward {
		key = "direct back"
	}
	p := packFor(c, t, g.key(key), func() []packSection {
		offsets, step := g.directAt(backward)
		w := kernel.NewWindow(nil, nil, g.Kernel[0], kernel.DirectWidth*g.c, g.o)
		return []packSection{{window: w, offsets: offsets, step: step}}
	})
	prepare := func(f *run.Frame) error {
		t.prepare(f)
		p.fill(f, t, false)
		return nil
	}
	s, row := g.directRow(), rowOf(c, x, y)
	work := y.Count * g.taps * g.c / 100
	span := func(f *run.Frame, w *run.Worker, i, from, to int) {
		from, to = from/g.ow, to/g.ow
		o := row(f, w, i)
		padded := g.paddedRows(w, o.in, x.RingRows(), 0, from, from+g.sees(to-from))
		for y := from; y < to; y++ {
			at := y * g.ow * g.o
			f.Kernels.Direct(s, o.out[at:], padded[y*s.RowStep:], p.sections[0].data, t.add, o.end.From(at),
				g.ow)
		}
	}
	return run.BySpan(&run.ByRows{Prepare: prepare, Work: work, Spans: run.Spans{Span: span,
		Positions: y.Positions, Step: g.ow, Width: g.o, Needs: g.Needs}})
}

// directGradient computes weight gradients directly. A task is one replica. If workers would be idle, a
// task has only some rows of the kernel.
func (g *Geometry) directGradient(x, dy, dw *run.Value) run.Action {
	chunks, size := chunksOf(dy.Positions), g.directSums()
	return run.Whole(func(f *run.Frame) error {
		in, grad, out := f.F32(x), f.F32(dy), f.F32(dw)
		cuts := enough(g.Kernel[0], len(f.Rows), f.Threads())
		f.Each(len(f.Rows)*cuts, func(w *run.Worker, task int) {
			cut, r := task%cuts, f.Turn(task/cuts, len(f.Rows))
			from, to := schedule.RangeOf(cut, cuts, g.Kernel[0])
			buffer := w.Floats(g.paddedLen() + (to-from)*size*chunks.blocks(f.Rows[r]))
			padded, workspace := buffer[:g.paddedLen()], buffer[g.paddedLen():]
			sums := chunks.sum(f.Kernels, workspace, (to-from)*size, f.Starts[r], f.Starts[r+1],
				func(sums []float32, first, last int) {
					for i := first; i < last; i++ {
						g.pad(padded, run.Row(in, x, i))
						g.addDirect(f.Kernels, sums, padded, run.Row(grad, dy, i), from, to)
					}
				})
			g.unpackDirect(run.Row(out, dw, r), sums, from, to)
		})
		return nil
	})
}

// directSums returns how many sums a weight gradient has for one row of the kernel.
func (g *Geometry) directSums() int { return kernel.DirectWidth * g.c * g.o }

// addDirect adds the products of a padded image and dy to the sums, for rows [from, to) of the kernel.
func (g *Geometry) addDirect(kernels *kernel.Set, sums, padded, dy []float32, from, to int) {
	t := g.directRow()
	for y := range g.oh {
		for k := from; k < to; k++ {
			kernels.DirectGradient(t, sums[(k-from)*g.directSums():], padded[(y+k)*t.RowStep:], dy[y*g.ow*g.o:], g.ow)
		}
	}
}

// unpackDirect writes sums [to-from][kw][C][O] to rows [from, to) of the kernel
// of a gradient [O][C][kh][kw].
func (g *Geometry) unpackDirect(dw, sums []float32, from, to int) {
	for t := range (to - from) * kernel.DirectWidth {
		for k := range g.c {
			for o, v := range sums[(t*g.c+k)*g.o:][:g.o] {
				dw[(o*g.c+k)*g.taps+from*kernel.DirectWidth+t] = v
			}
		}
	}
}
