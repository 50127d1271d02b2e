package cpu

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// buildReduce sums in float64, in logical order, unit by unit.
func buildReduce(c *compiler) action {
	x, y := c.in(0), c.out(0)
	to := reducedStrides(x.Shape, y.strides(), c.node.Ints("axes"), c.node.Bool("keep"))
	from, divisor := x.strides(), 1.0
	if c.node.Op == graph.ReduceMean {
		divisor = float64(x.count / max(y.count, 1))
	}
	logical := rowMajor(x.Shape)
	return byUnit(y.Kind, action{row: func(f *frame, w *worker, i, _, _ int) {
		sum := w.doubles(y.count)
		clear(sum)
		in, out := f.unit(x, w, y.Kind, i), f.unit(y, w, y.Kind, i)
		if x.DType == tensor.F64 {
			reduceUnit(x.Shape, logical, from, to, sum, of[float64](in))
			divideInto(of[float64](out), sum, divisor)
		} else {
			reduceUnit(x.Shape, logical, from, to, sum, of[float32](in))
			divideInto(of[float32](out), sum, divisor)
		}
	}})
}

// reducedStrides returns, for the axes of x, the strides of the result; 0 along reduced axes.
func reducedStrides(shape, result, axes []int, keep bool) []int {
	out, k := make([]int, len(shape)), 0
	for i := range shape {
		gone := false
		for _, a := range axes {
			gone = gone || a == i
		}
		if !gone {
			out[i] = result[k]
		}
		if !gone || keep {
			k++
		}
	}
	return out
}

func reduceUnit[T float32 | float64](shape, logical, from, to []int, sum []float64, x []T) {
	walk(shape, logical, from, to, func(n, _, i, k, _, stepI, stepK int) {
		for range n {
			sum[k] += float64(x[i])
			i, k = i+stepI, k+stepK
		}
	})
}

func divideInto[T float32 | float64](y []T, sum []float64, divisor float64) {
	for i, v := range sum {
		y[i] = T(v / divisor)
	}
}
