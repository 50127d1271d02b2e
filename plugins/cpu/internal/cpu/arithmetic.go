package cpu

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/tensor"
)

// arithmeticOps compute element by element, and reduce over axes of a row.
var arithmeticOps = map[graph.Op]func(c *compiler) action{
	graph.Image:      buildImage,
	graph.Add:        buildBinary,
	graph.Sub:        buildBinary,
	graph.Mul:        buildBinary,
	graph.Div:        buildBinary,
	graph.Exp:        func(c *compiler) action { return c.unary(tensor.Exp) },
	graph.Log:        func(c *compiler) action { return c.unary(tensor.Log) },
	graph.Sqrt:       func(c *compiler) action { return c.unary(math.Sqrt) },
	graph.Affine:     buildAffine,
	graph.ReduceSum:  buildReduce,
	graph.ReduceMean: buildReduce,
	graph.Dropout:    buildDropout,
}

// buildAffine rounds the product and the sum.
func buildAffine(c *compiler) action {
	by, add := c.node.Float("by"), c.node.Float("add")
	if c.in(0).DType == tensor.F64 {
		return c.unary(func(x float64) float64 { return float64(by*x) + add })
	}
	return c.spans(func(y []float32, x [][]float32) {
		for i, v := range x[0] {
			y[i] = float32(float32(by)*v) + float32(add)
		}
	})
}

func buildBinary(c *compiler) action {
	a, b, y := c.in(0), c.in(1), c.out(0)
	switch {
	case y.DType == tensor.F64:
		return binaryAction(a, b, y, arithmetic[float64](c.node.Op))
	case c.node.Op == graph.Add && sameLayout(a, y) && sameLayout(b, y):
		return c.spans(func(y []float32, x [][]float32) { c.kernels.Add(y, x[0], x[1]) })
	case c.node.Op == graph.Mul && y.last && sameLayout(a, y) && ofChannels(b, y):
		return c.scaled(a, b)
	}
	return binaryAction(a, b, y, arithmetic[float32](c.node.Op))
}

// sameLayout reports whether elements of a and y lie at the same places.
func sameLayout(a, y *value) bool {
	return a.Kind == y.Kind && a.count == y.count && len(a.Shape) == len(y.Shape)
}

// ofChannels reports whether b has one element for each channel of y.
func ofChannels(b, y *value) bool {
	return b.Kind == graph.Whole && len(b.Shape) == len(y.Shape) && b.count == y.channels &&
		b.Shape[0] == y.channels
}

// scaled multiplies the channels of x with elements of s, as the gradient of a
// batch norm with constant statistics does: it normalises from 0, and adds -0,
// which leaves every product as it is.
func (c *compiler) scaled(x, s *value) action {
	a := kernel.NewAffine(x.channels)
	prepare := func(f *frame) error {
		for ch, by := range f.f32(s) {
			a.Set(ch, 0, float64(by), math.Copysign(0, -1))
		}
		return nil
	}
	return c.normaliseAction(x, prepare, func(*frame, int) kernel.Affine { return a })
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
func binaryAction[T float32 | float64](a, b, y *value, fn func(a, b T) T) action {
	strides, strideA, strideB := y.strides(), broadcast(a, y.Shape), broadcast(b, y.Shape)
	return byUnit(y.Kind, action{row: func(f *frame, w *worker, i, _, _ int) {
		u, v := of[T](f.unit(a, w, y.Kind, i)), of[T](f.unit(b, w, y.Kind, i))
		out := of[T](f.unit(y, w, y.Kind, i))
		walk(y.Shape, strides, strideA, strideB, func(n, k, p, q, stepK, stepP, stepQ int) {
			for range n {
				out[k] = fn(u[p], v[q])
				k, p, q = k+stepK, p+stepP, q+stepQ
			}
		})
	}})
}
