package cpu

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// reductionOps sum over rows and over replicas.
var reductionOps = map[graph.Op]func(c *compiler) action{
	graph.SumRows:    buildSumRows,
	graph.ChannelSum: buildChannelSum,
	graph.AllReduce:  buildAllReduce,
}

func buildChannelSum(c *compiler) action {
	x, y, kernels := c.in(0), c.out(0), c.kernels
	o := blockwise{x: x, total: y, operands: []*value{x}, add: addTo[float64],
		part: func(_ *frame, _ int, part []float64, in [][]float32) {
			clear(part)
			kernels.Sums(part, in[0])
		},
		half: func(_ *frame, _ int, part []float64, in [][]uint16) {
			clear(part)
			kernels.SumsHalf(part, in[0])
		}}
	return o.action(c)
}

// buildSumRows sums in float64, rows in order.
func buildSumRows(c *compiler) action {
	x, y := c.in(0), c.out(0)
	strides, logical := x.strides(), rowMajor(x.Shape)
	return action{asHalves: [][]*value{{x}}, once: func(f *frame) error {
		f.each(len(f.rows), func(w *worker, r int) {
			sum := w.doubles(x.count)
			clear(sum)
			for i := f.starts[r]; i < f.starts[r+1]; i++ {
				if x.DType == tensor.F64 {
					addTo(sum, row(f.f64(x), x, i))
				} else {
					addTo(sum, f.rowOf(x, w, i))
				}
			}
			walk(x.Shape, logical, strides, nil, func(n, to, from, _, toStep, fromStep, _ int) {
				for k := range n {
					v := sum[from+k*fromStep]
					if x.DType == tensor.F64 {
						row(f.f64(y), y, r)[to+k*toStep] = v
					} else {
						row(f.f32(y), y, r)[to+k*toStep] = float32(v)
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
