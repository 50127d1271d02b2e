package operations

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// buildCompare compares elements with elements of another value, or with 0.
func buildCompare(c *plan.Compiler) run.Action {
	switch do := compared(c.Kernels(), c.Node().Text("of")); {
	case c.In(1) != nil:
		return buildBinary(c)
	case c.In(0).DType == tensor.F64:
		f := class.Arithmetic(c.Node())
		return unary(c, func(x float64) float64 { return f(x, 0) })
	default:
		return broadcastSpans(c, func(y []float32, x [][]float32) { do(y, x[0], x[1]) }, c.In(0), nil)
	}
}

// compared returns the function of package kernel that compares slices of equal length. relation is the
// attribute of the node that selects the comparison.
func compared(kernels *kernel.Set, relation string) func(y, a, b []float32) {
	turned := map[string]kernel.Operation{"greater": kernel.Less, "greater_equal": kernel.AtMost}
	if o, ok := turned[relation]; ok {
		return func(y, a, b []float32) { kernels.Combine(o, y, b, a) }
	}
	o := map[string]kernel.Operation{"less": kernel.Less, "less_equal": kernel.AtMost, "equal": kernel.Equal,
		"not_equal": kernel.NotEqual}[relation]
	return func(y, a, b []float32) { kernels.Combine(o, y, a, b) }
}

func buildWhere(c *plan.Compiler) run.Action {
	test, x, other, y := c.In(0), c.In(1), c.In(2), c.Out(0)
	if y.DType == tensor.F64 {
		return whereAction[float64](c, nil)
	}
	kernels := c.Kernels()
	pick := func(y []float32, x [][]float32) { kernels.Pick(y, x[0], x[1], x[2]) }
	if spans := broadcastSpans(c, pick, test, x, other); spans != nil {
		return spans
	}
	return whereAction(c, kernels.Pick)
}

// whereAction first copies elements of one operand where the condition is true, and then elements of the
// other operand elsewhere. If pick is not nil, it is used for contiguous elements.
func whereAction[T float32 | float64](c *plan.Compiler, pick func(y, test, a, b []T)) run.Action {
	test, x, other, y := c.In(0), c.In(1), c.In(2), c.Out(0)
	strides, ofTest := y.Strides(), broadcast(test, y.Shape)
	row := func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
		u, out := layout.View[T](f.Unit(test, w, y.Kind, i)), layout.View[T](f.Unit(y, w, y.Kind, i))
		some := new(repeated[T])
		picked := func(x *run.Value, yes bool) {
			from, ofX := make([]T, 1), make([]int, len(y.Shape))
			if x != nil {
				from, ofX = layout.View[T](f.Unit(x, w, y.Kind, i)), broadcast(x, y.Shape)
			}
			layout.WalkPiece(y.Shape, strides, ofTest, ofX, piece, pieces, func(n, k, p, q, stepK, stepP, stepQ int) {
				if pick != nil && n >= fewElements && stepK == 1 && stepP == 1 && stepQ <= 1 {
					some.pick(out[k:k+n], u[p:], from[q:], stepQ, yes, pick)
					return
				}
				for range n {
					if (u[p] != 0) == yes {
						out[k] = from[q]
					}
					k, p, q = k+stepK, p+stepP, q+stepQ
				}
			})
		}
		picked(x, true)
		picked(other, false)
	}
	return run.ByUnit(y.Kind, &run.ByRows{Work: y.Count / 4, Row: row})
}

// pick copies elements of x to y where test is not 0 (yes) or where it is 0 (not yes). If step is 0, x has
// one element for all of y.
func (r *repeated[T]) pick(y, test, x []T, step int, yes bool, pick func(y, test, a, b []T)) {
	for len(y) > 0 {
		n := len(y)
		if step == 0 {
			n = min(n, len(r))
			x = r.filled(n, x[0])
		}
		if yes {
			pick(y[:n], test, x, y)
		} else {
			pick(y[:n], test, y, x)
		}
		y, test = y[n:], test[n:]
	}
}
