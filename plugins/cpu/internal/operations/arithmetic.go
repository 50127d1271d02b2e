package operations

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// arithmeticOps compute element by element, and reduce over axes of a row.
var arithmeticOps = map[graph.Op]func(c *plan.Compiler) run.Action{
	graph.Image:      buildImage,
	graph.Add:        buildBinary,
	graph.Sub:        buildBinary,
	graph.Mul:        buildBinary,
	graph.Div:        buildBinary,
	graph.Exp:        func(c *plan.Compiler) run.Action { return unary(c, tensor.Exp) },
	graph.Log:        func(c *plan.Compiler) run.Action { return unary(c, tensor.Log) },
	graph.Sqrt:       func(c *plan.Compiler) run.Action { return unary(c, math.Sqrt) },
	graph.Affine:     buildAffine,
	graph.ReduceSum:  buildReduce,
	graph.ReduceMean: buildReduce,
	graph.Dropout:    buildDropout,
}

// buildAffine rounds the product and the sum.
func buildAffine(c *plan.Compiler) run.Action {
	by, add := c.Node().Float("by"), c.Node().Float("add")
	if c.In(0).DType == tensor.F64 {
		return unary(c, func(x float64) float64 { return float64(by*x) + add })
	}
	return spans(c, func(y []float32, x [][]float32) {
		for i, v := range x[0] {
			y[i] = float32(float32(by)*v) + float32(add)
		}
	})
}

func buildBinary(c *plan.Compiler) run.Action {
	a, b, y := c.In(0), c.In(1), c.Out(0)
	switch {
	case y.DType == tensor.F64:
		return binaryAction(a, b, y, arithmetic[float64](c.Node().Op))
	case c.Node().Op == graph.Add && sameLayout(a, y) && sameLayout(b, y):
		return spans(c, func(y []float32, x [][]float32) { c.Kernels().Add(y, x[0], x[1]) })
	case c.Node().Op == graph.Mul && y.Last && sameLayout(a, y) && ofChannels(b, y):
		return scaled(c, a, b)
	case c.Node().Op == graph.Mul && y.Last && sameLayout(a, y) && ofRowsChannels(b, y):
		return scaledByRows(a, b, y)
	}
	return binaryAction(a, b, y, arithmetic[float32](c.Node().Op))
}

// sameLayout reports whether elements of a and y lie at the same places.
func sameLayout(a, y *run.Value) bool {
	return a.Kind == y.Kind && a.Count == y.Count && len(a.Shape) == len(y.Shape)
}

// ofChannels reports whether b has one element for each channel of y.
func ofChannels(b, y *run.Value) bool {
	return b.Kind == graph.Whole && len(b.Shape) == len(y.Shape) && b.Count == y.Channels &&
		b.Shape[0] == y.Channels
}

// ofRowsChannels reports whether every row of b has one element for each channel of y.
func ofRowsChannels(b, y *run.Value) bool {
	return b.Kind == graph.Rows && y.Kind == graph.Rows && len(b.Shape) == len(y.Shape) &&
		b.Count == y.Channels && b.Shape[0] == y.Channels
}

// scaledByRows multiplies the channels of each row of x with the elements of that
// row of s, as squeeze and excitation does.
func scaledByRows(x, s, y *run.Value) run.Action {
	return run.ByUnit(y.Kind, &run.ByRows{Work: y.Count / 5,
		Row: func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
			from, to := run.Span(piece, pieces, y.Positions)
			in, out := run.View[float32](f.Unit(x, w, y.Kind, i)), run.View[float32](f.Unit(y, w, y.Kind, i))
			by := run.View[float32](f.Unit(s, w, y.Kind, i))[:y.Channels]
			for at := from; at < to; at++ {
				v, u := out[at*y.Channels:][:len(by)], in[at*y.Channels:][:len(by)]
				for ch, b := range by {
					v[ch] = u[ch] * b
				}
			}
		}})
}

// scaled multiplies the channels of x with elements of s, as the gradient of a
// batch norm with constant statistics does: it normalises from 0, and adds -0,
// which leaves every product as it is.
func scaled(c *plan.Compiler, x, s *run.Value) run.Action {
	a := kernel.NewAffine(x.Channels)
	prepare := func(f *run.Frame) error {
		for ch, by := range f.F32(s) {
			a.Set(ch, 0, float64(by), math.Copysign(0, -1))
		}
		return nil
	}
	return normaliseAction(c, x, prepare, func(*run.Frame, int) kernel.Affine { return a })
}

func arithmetic[T float32 | float64](op graph.Op) func(a, b T) T {
	switch op {
	case graph.Add:
		return func(a, b T) T { return a + b }
	case graph.Sub:
		return func(a, b T) T { return a - b }
	case graph.Mul:
		return func(a, b T) T { return a * b }
	}
	return func(a, b T) T { return a / b }
}

// binaryAction computes unit by unit of y; operands broadcast over the shape,
// and those of a kind with fewer units go with every unit of theirs.
func binaryAction[T float32 | float64](a, b, y *run.Value, fn func(a, b T) T) run.Action {
	strides, strideA, strideB := y.Strides(), broadcast(a, y.Shape), broadcast(b, y.Shape)
	return run.ByUnit(y.Kind, &run.ByRows{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
		u, v := run.View[T](f.Unit(a, w, y.Kind, i)), run.View[T](f.Unit(b, w, y.Kind, i))
		out := run.View[T](f.Unit(y, w, y.Kind, i))
		run.Walk(y.Shape, strides, strideA, strideB, func(n, k, p, q, stepK, stepP, stepQ int) {
			for range n {
				out[k] = fn(u[p], v[q])
				k, p, q = k+stepK, p+stepP, q+stepQ
			}
		})
	}})
}
