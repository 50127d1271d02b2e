package operations

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// buildReduce sums, multiplies or compares in float64, in logical order, unit by unit.
func buildReduce(c *plan.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	to := reducedStrides(x.Shape, y.Strides(), c.Node().Ints("axes"), c.Node().Bool("keep"))
	from, divisor := x.Strides(), 1.0
	if c.Node().Op == graph.ReduceMean {
		divisor = float64(x.Count / max(y.Count, 1))
	}
	logical, op := run.RowMajor(x.Shape), c.Node().Op
	pixels := sums(op) && x.Last && overPositions(x, to)
	return run.ByUnit(y.Kind, &run.ByRows{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
		acc := w.Doubles(y.Count)
		in, out := f.Unit(x, w, y.Kind, i), f.Unit(y, w, y.Kind, i)
		switch {
		case x.DType == tensor.F64:
			reduceUnit(op, x.Shape, logical, from, to, acc, run.View[float64](in))
			divideInto(run.View[float64](out), acc, divisor)
			return
		case pixels:
			clear(acc)
			f.Kernels.DoubleSums(acc, run.View[float32](in))
		default:
			reduceUnit(op, x.Shape, logical, from, to, acc, run.View[float32](in))
		}
		divideInto(run.View[float32](out), acc, divisor)
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

// overPositions reports whether a result with those strides for the axes of x, which has its channels last,
// is one sum over the positions of each channel: then these can be added one after the other, all channels
// at a time.
func overPositions(x *run.Value, to []int) bool {
	for i, step := range to[1:] {
		if step != 0 && x.Shape[i+1] != 1 {
			return false
		}
	}
	return to[0] == 1 && x.Channels > 0
}

// sums reports whether a reduction adds.
func sums(op graph.Op) bool { return op == graph.ReduceSum || op == graph.ReduceMean }

// reduceUnit sets acc to what a reduction makes of a unit; sums, the most frequent, without calls.
func reduceUnit[T float32 | float64](op graph.Op, shape, logical, from, to []int, acc []float64, x []T) {
	first, add := class.Reduction(op)
	for i := range acc {
		acc[i] = first
	}
	run.Walk(shape, logical, from, to, func(n, _, i, k, _, stepI, stepK int) {
		if !sums(op) {
			for range n {
				acc[k] = add(acc[k], float64(x[i]))
				i, k = i+stepI, k+stepK
			}
			return
		}
		for range n {
			acc[k] += float64(x[i])
			i, k = i+stepI, k+stepK
		}
	})
}

func divideInto[T float32 | float64](y []T, sum []float64, divisor float64) {
	for i, v := range sum {
		y[i] = T(v / divisor)
	}
}
