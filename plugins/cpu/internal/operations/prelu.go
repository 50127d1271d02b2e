package operations

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

func buildPrelu(c *plan.Compiler) run.Action {
	return bySlopes(c, func(k *kernel.Set, y, slopes []float32, x [][]float32) {
		k.Combine(kernel.Prelu, y, x[0], slopes)
	}, c.In(0))
}

func buildPreluGradInput(c *plan.Compiler) run.Action {
	return bySlopes(c, func(k *kernel.Set, dx, slopes []float32, x [][]float32) {
		k.PreluGradient(dx, x[0], slopes, x[1])
	}, c.In(0), c.In(2))
}

// repeatedSlopes is the approximate number of slopes that are stored one after the other. With few
// channels, slopes are repeated, so that vectors are long.
const repeatedSlopes = 512

// bySlopes returns an action that computes elements. do receives slices of equal length: of the result, of
// the slopes for its elements, and of each operand.
func bySlopes(c *plan.Compiler, do func(k *kernel.Set, y, slopes []float32, x [][]float32),
	operands ...*run.Value) run.Action {
	y, slope := c.Out(0), c.In(1)
	some := min(y.Positions, 1+repeatedSlopes/y.Channels)
	slopes := make([]float32, some*y.Channels)
	prepare := func(f *run.Frame) error {
		for i := 0; i < len(slopes); i += y.Channels {
			copy(slopes[i:], f.F32(slope))
		}
		return nil
	}
	span := func(f *run.Frame, w *run.Worker, i, from, to int) {
		x, out := w.Views[:len(operands)], f.At(y, w, i)
		for ; from < to; from += some {
			begin, end := from*y.Channels, min(from+some, to)*y.Channels
			for k, v := range operands {
				x[k] = f.At(v, w, i)[begin:end]
			}
			do(f.Kernels, out[begin:end], slopes[:end-begin], x)
		}
	}
	return run.BySpan(&run.ByRows{Prepare: prepare, Work: y.Count / 8,
		Spans: run.Spans{Span: span, Positions: y.Positions, Step: 1, Width: y.Channels, Pointwise: true}})
}

// buildPreluGradSlope sums in float64, row by row, and in a row position by position.
func buildPreluGradSlope(c *plan.Compiler) run.Action {
	x, dy, ds := c.In(0), c.In(1), c.Out(0)
	return run.Whole(func(f *run.Frame) error {
		in, grad, out := f.F32(x), f.F32(dy), f.F32(ds)
		f.Each(len(f.Rows), func(w *run.Worker, r int) {
			sum := w.Doubles(ds.Count)
			clear(sum)
			for i := f.Starts[r] * x.Count; i < f.Starts[r+1]*x.Count; i += x.Channels {
				dy := grad[i : i+x.Channels]
				for ch, v := range in[i : i+x.Channels] {
					if !(v >= 0) {
						sum[ch] += float64(float64(v) * float64(dy[ch]))
					}
				}
			}
			divideInto(run.Row(out, ds, r), sum, 1)
		})
		return nil
	})
}
