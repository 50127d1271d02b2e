package operations

import (
	"math"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// buildReduce reduces each unit: it sums, multiplies or compares in float64, in logical order.
func buildReduce(c *plan.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	to := reducedStrides(x.Shape, y.Strides(), c.Node().Ints("axes"), c.Node().Bool("keep"))
	from, divisor := x.Strides(), 1.0
	if c.Node().Op == graph.ReduceMean {
		divisor = float64(x.Count / max(y.Count, 1))
	}
	order, op := layout.RowMajor(x.Shape), c.Node().Op
	if n := lineOf(x, to); extreme(op) && x.DType == tensor.F32 && n > 1 && n <= longestLine {
		return extremeLines(op, x, y, n)
	}
	if extreme(op) || keepsOrder(x, to) {
		order = from
	}
	pixels := sums(op) && x.Last && overPositions(x, to)
	return run.ByUnit(y.Kind, &run.ByRows{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
		acc := w.Doubles(y.Count)
		in, out := f.Unit(x, w, y.Kind, i), f.Unit(y, w, y.Kind, i)
		switch {
		case x.DType == tensor.F64:
			reduceUnit(op, x.Shape, order, from, to, acc, layout.View[float64](in))
			divideInto(layout.View[float64](out), acc, divisor)
			return
		case extreme(op):
			e := extremesOf(f.Kernels, op, w.Floats(extremesAtOnce))
			if y.Count == 1 {
				layout.View[float32](out)[0] = e.line(e.first, layout.View[float32](in)[:x.Count])
			} else {
				e.unit(x.Shape, from, to, layout.View[float32](out), layout.View[float32](in))
			}
			return
		case pixels:
			clear(acc)
			f.Kernels.DoubleSums(acc, layout.View[float32](in))
		case sums(op):
			clear(acc)
			sumUnit(f.Kernels, x.Shape, order, from, to, acc, layout.View[float32](in))
		default:
			reduceUnit(op, x.Shape, order, from, to, acc, layout.View[float32](in))
		}
		divideInto(layout.View[float32](out), acc, divisor)
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

// overPositions reports whether a reduction of x sums all positions of each channel. strides has the strides
// of the result for the axes of x, which has its channels last. The positions can then be added one after the
// other, all channels at a time.
func overPositions(x *run.Value, strides []int) bool {
	for i, step := range strides[1:] {
		if step != 0 && x.Shape[i+1] != 1 {
			return false
		}
	}
	return strides[0] == 1 && x.Channels > 0
}

// keepsOrder reports whether elements of x that are reduced to one element of the result have their logical
// order in memory, too. strides has the strides of the result. If the first axis of x is stored last, this is
// the case if it is the only reduced axis, or is not reduced.
func keepsOrder(x *run.Value, strides []int) bool {
	if !x.Last || strides[0] != 0 || x.Shape[0] == 1 {
		return true
	}
	for i, step := range strides[1:] {
		if step == 0 && x.Shape[i+1] != 1 {
			return false
		}
	}
	return true
}

// sums reports whether a reduction is a sum or a mean.
func sums(op graph.Op) bool { return op == graph.ReduceSum || op == graph.ReduceMean }

// extreme reports whether a reduction computes a maximum or a minimum. The order of the elements does not
// matter.
func extreme(op graph.Op) bool { return op == graph.ReduceMax || op == graph.ReduceMin }

// extremes computes maxima, or minima.
type extremes struct {
	kernels *kernel.Set
	op      kernel.Operation
	better  func(a, b float32) float32
	first   float32   // result if there are no elements
	spare   []float32 // space for extremesAtOnce values
}

// extremesAtOnce is the number of partial extremes (maxima or minima) that are kept side by side for one
// result.
const extremesAtOnce = 1024

// extremesOf returns the functions and the memory that ReduceMax or ReduceMin needs.
func extremesOf(kernels *kernel.Set, op graph.Op, spare []float32) *extremes {
	least := float32(math.Inf(-1))
	if op == graph.ReduceMin {
		return &extremes{kernels, kernel.Min, func(a, b float32) float32 { return min(a, b) }, -least, spare}
	}
	return &extremes{kernels, kernel.Max, func(a, b float32) float32 { return max(a, b) }, least, spare}
}

// unit sets y to the maxima or minima of a unit of x.
func (e *extremes) unit(shape, xStrides, yStrides []int, y, x []float32) {
	for i := range y {
		y[i] = e.first
	}
	layout.Walk(shape, xStrides, yStrides, nil, func(n, i, k, _, stepI, stepK, _ int) {
		switch {
		case stepI == 1 && stepK == 1:
			e.kernels.Combine(e.op, y[k:k+n], y[k:k+n], x[i:])
		case stepI == 1 && stepK == 0:
			y[k] = e.line(y[k], x[i:i+n])
		default:
			for range n {
				y[k] = e.better(y[k], x[i])
				i, k = i+stepI, k+stepK
			}
		}
	})
}

// line returns the extreme of y and the elements of x. It first compares parts of x element by element,
// until one part is left, then the halves of that part, and so on.
func (e *extremes) line(y float32, x []float32) float32 {
	const few = 16
	if side := e.spare; len(x) > len(side) {
		copy(side, x)
		for x = x[len(side):]; len(x) > 0; {
			n := min(len(x), len(side))
			e.kernels.Combine(e.op, side[:n], side[:n], x[:n])
			x = x[n:]
		}
		x = side
	}
	for len(x) > few {
		h := (len(x) + 1) / 2
		n := len(x) - h
		e.kernels.Combine(e.op, e.spare[:n], x[:n], x[h:])
		copy(e.spare[n:h], x[n:h])
		x = e.spare[:h]
	}
	for _, v := range x {
		y = e.better(y, v)
	}
	return y
}

// sumUnit adds the elements of a unit of x to the sums in acc. It uses vectors if both the elements and
// their sums are contiguous.
func sumUnit(kernels *kernel.Set, shape, order, xStrides, yStrides []int, acc []float64, x []float32) {
	layout.Walk(shape, order, xStrides, yStrides, func(n, _, i, k, _, stepI, stepK int) {
		switch {
		case stepI == 1 && stepK == 1:
			kernels.DoubleSums(acc[k:k+n], x[i:i+n])
		case stepK == 0:
			sum := acc[k]
			for range n {
				sum += float64(x[i])
				i += stepI
			}
			acc[k] = sum
		default:
			for range n {
				acc[k] += float64(x[i])
				i, k = i+stepI, k+stepK
			}
		}
	})
}

// reduceUnit sets acc to the results of reducing one unit of x.
func reduceUnit[T float32 | float64](op graph.Op, shape, order, xStrides, yStrides []int, acc []float64,
	x []T) {
	first, add := class.Reduction(op)
	for i := range acc {
		acc[i] = first
	}
	layout.Walk(shape, order, xStrides, yStrides, func(n, _, i, k, _, stepI, stepK int) {
		for range n {
			acc[k] = add(acc[k], float64(x[i]))
			i, k = i+stepI, k+stepK
		}
	})
}

func divideInto[T float32 | float64](y []T, sum []float64, divisor float64) {
	for i, v := range sum {
		y[i] = T(v / divisor)
	}
}
