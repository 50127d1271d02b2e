package convolution

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Products of int8 are exact, so that every order of a sum gives the same: docs/int8.md. Maps are bytes,
// channels last.

// sums are the products of a node of int8: what their operands are, and how a sum becomes a result.
type sums struct {
	weight, bias, by, y *run.Value
	q                   class.Int8
	xZero               int32
}

func sumsOf(c *plan.Compiler) *sums {
	return &sums{weight: c.In(1), bias: c.In(2), by: c.In(3), y: c.Out(0), q: class.Int8Of(c.Node()),
		xZero: int32(c.Node().Int("x_zero"))}
}

// store sets element i of a unit of the result, of channel o, to a sum.
func (s *sums) store(unit []byte, i, o int, sum int32, by []float32) {
	if s.y.DType.Size() == 1 {
		unit[i] = s.q.Requantise(sum, by[o])
	} else {
		run.View[float32](unit)[i] = float32(sum) * by[o]
	}
}

func buildConvInt8(c *plan.Compiler) run.Action {
	x, y, s := c.In(0), c.Out(0), sumsOf(c)
	g := NewGeometry(c.Window(), x.Shape, y.Shape)
	if why := g.TooLarge(); why != "" {
		return c.Refuse(why)
	}
	windows := g.forward()
	span := func(f *run.Frame, w *run.Worker, i, from, to int) {
		image, out := f.Unit(x, w, graph.Rows, i), f.Unit(y, w, graph.Rows, i)
		weight, bias, by := run.View[int8](f.Bytes(s.weight)), run.View[int32](f.Bytes(s.bias)), f.F32(s.by)
		for p := from; p < to; p++ {
			for o := range g.o {
				sum := bias[o]
				for t := range g.taps {
					at := windows.In[t*y.Positions+p]
					if at < 0 {
						continue
					}
					run := image[int(at)/4+o/g.og*g.cg:][:g.cg]
					for k, v := range run {
						sum += int32(weight[(o*g.cg+k)*g.taps+t]) * (int32(v) - s.xZero)
					}
				}
				s.store(out, p*g.o+o, o, sum, by)
			}
		}
	}
	return run.BySpan(&run.ByRows{Work: g.oh * g.ow * g.taps * g.cg * g.o / 2, Spans: run.Spans{Span: span,
		Positions: y.Positions, Step: 1, Width: g.o, Needs: g.Needs}})
}

func buildDenseInt8(c *plan.Compiler) run.Action {
	x, y, s := c.In(0), c.Out(0), sumsOf(c)
	work := x.Count * y.Count / 2
	return &run.ByRows{Work: work, Row: func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
		in, out := f.Unit(x, w, graph.Rows, i), f.Unit(y, w, graph.Rows, i)
		weight, bias, by := run.View[int8](f.Bytes(s.weight)), run.View[int32](f.Bytes(s.bias)), f.F32(s.by)
		from, to := run.Span(piece, pieces, y.Count)
		for o := from; o < to; o++ {
			sum := bias[o]
			for k, v := range in {
				sum += int32(weight[o*x.Count+k]) * (int32(v) - s.xZero)
			}
			s.store(out, o, o, sum, by)
		}
	}}
}
