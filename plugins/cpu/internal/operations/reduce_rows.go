package operations

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// reductionOps sum over rows and over replicas.
var reductionOps = map[graph.Op]func(c *plan.Compiler) run.Action{
	graph.SumRows:    buildSumRows,
	graph.ChannelSum: buildChannelSum,
	graph.AllReduce:  plan.AllReduce,
}

func buildChannelSum(c *plan.Compiler) run.Action {
	x, y, kernels := c.In(0), c.Out(0), c.Kernels()
	o := blockwise{x: x, total: y, operands: []*run.Value{x}, add: addTo[float64],
		compute: func(_ *run.Frame, w *run.Worker, _ int, partial []float64, in [][]float32) {
			kernels.Sums(partial, in[0], &w.Sums)
		},
		computeHalf: func(_ *run.Frame, w *run.Worker, _ int, partial []float64, in [][]uint16) {
			kernels.SumsHalf(partial, in[0], &w.Sums)
		}}
	return o.action(c)
}

// buildSumRows sums rows in float64, one after the other.
func buildSumRows(c *plan.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	strides, logical := x.Strides(), layout.RowMajor(x.Shape)
	return &run.AtOnce{Storage: run.Storage{AsHalves: [][]*run.Value{{x}}}, Do: func(f *run.Frame) error {
		f.Each(len(f.Rows), func(w *run.Worker, r int) {
			sum := w.Doubles(x.Count)
			clear(sum)
			for i := f.Starts[r]; i < f.Starts[r+1]; i++ {
				if x.DType == tensor.F64 {
					addTo(sum, run.Row(f.F64(x), x, i))
				} else {
					addTo(sum, f.RowOf(x, w, i))
				}
			}
			layout.Walk(x.Shape, logical, strides, nil, func(n, to, from, _, toStep, fromStep, _ int) {
				for k := range n {
					v := sum[from+k*fromStep]
					if x.DType == tensor.F64 {
						run.Row(f.F64(y), y, r)[to+k*toStep] = v
					} else {
						run.Row(f.F32(y), y, r)[to+k*toStep] = float32(v)
					}
				}
			})
		})
		return nil
	}}
}

func addTo[T float32 | float64](sum []float64, x []T) {
	for i, v := range x {
		sum[i] += float64(v)
	}
}
