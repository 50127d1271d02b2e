package operations

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

func buildPrelu(c *plan.Compiler) run.Action {
	slope := c.In(1)
	return perChannel(c, func(f *run.Frame, ch int, x [][]float32, i int) float32 {
		if v := x[0][i]; !(v >= 0) {
			return v * f.F32(slope)[ch]
		}
		return x[0][i]
	}, c.In(0))
}

func buildPreluGradInput(c *plan.Compiler) run.Action {
	slope := c.In(1)
	return perChannel(c, func(f *run.Frame, ch int, x [][]float32, i int) float32 {
		if !(x[0][i] >= 0) {
			return x[1][i] * f.F32(slope)[ch]
		}
		return x[1][i]
	}, c.In(0), c.In(2))
}

// perChannel returns an action that sets every element of a row from the same
// element of the operands, knowing its channel.
func perChannel(c *plan.Compiler, at func(f *run.Frame, ch int, x [][]float32, i int) float32,
	operands ...*run.Value) run.Action {
	y := c.Out(0)
	return &run.ByRows{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
		x := make([][]float32, 0, 2)
		for _, v := range operands {
			x = append(x, f.At(v, w, i))
		}
		out := f.At(y, w, i)
		for k := range out {
			out[k] = at(f, k%y.Channels, x, k)
		}
	}}
}

// buildPreluGradSlope sums in float64: rows in order, positions in order.
func buildPreluGradSlope(c *plan.Compiler) run.Action {
	x, dy, ds := c.In(0), c.In(1), c.Out(0)
	return run.Whole(func(f *run.Frame) error {
		in, grad, out := f.F32(x), f.F32(dy), f.F32(ds)
		f.Each(len(f.Rows), func(w *run.Worker, r int) {
			sum := w.Doubles(ds.Count)
			clear(sum)
			for i := f.Starts[r] * x.Count; i < f.Starts[r+1]*x.Count; i++ {
				if !(in[i] >= 0) {
					sum[i%x.Channels] += float64(float64(in[i]) * float64(grad[i]))
				}
			}
			divideInto(run.Row(out, ds, r), sum, 1)
		})
		return nil
	})
}
