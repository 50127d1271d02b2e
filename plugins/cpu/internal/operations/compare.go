package operations

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// buildCompare compares with another value, or with 0.
func buildCompare(c *plan.Compiler) run.Action {
	if c.In(1) != nil {
		return buildBinary(c)
	}
	f := class.Arithmetic(c.Node())
	return unary(c, func(x float64) float64 { return f(x, 0) })
}

func buildWhere(c *plan.Compiler) run.Action {
	if c.Out(0).DType == tensor.F64 {
		return whereAction[float64](c)
	}
	return whereAction[float32](c)
}

// whereAction copies what the condition picks of one operand, and then of the other.
func whereAction[T float32 | float64](c *plan.Compiler) run.Action {
	test, x, other, y := c.In(0), c.In(1), c.In(2), c.Out(0)
	strides, ofTest := y.Strides(), broadcast(test, y.Shape)
	picked := func(f *run.Frame, w *run.Worker, i int, x *run.Value, yes bool) {
		u, out := run.View[T](f.Unit(test, w, y.Kind, i)), run.View[T](f.Unit(y, w, y.Kind, i))
		from, ofX := make([]T, 1), make([]int, len(y.Shape))
		if x != nil {
			from, ofX = run.View[T](f.Unit(x, w, y.Kind, i)), broadcast(x, y.Shape)
		}
		run.Walk(y.Shape, strides, ofTest, ofX, func(n, k, p, q, stepK, stepP, stepQ int) {
			for range n {
				if (u[p] != 0) == yes {
					out[k] = from[q]
				}
				k, p, q = k+stepK, p+stepP, q+stepQ
			}
		})
	}
	row := func(f *run.Frame, w *run.Worker, i, _, _ int) {
		picked(f, w, i, x, true)
		picked(f, w, i, other, false)
	}
	return run.ByUnit(y.Kind, &run.ByRows{Work: y.Count / 4, Row: row})
}
