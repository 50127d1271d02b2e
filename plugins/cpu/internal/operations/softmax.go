package operations

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// line has n elements, step elements apart.
type line struct{ n, step int }

// lines returns an action that calls do for every line along the node's axis, in every unit of its result.
// do receives the operands and the result, and the offset of the line in them.
func lines(c *plan.Compiler, do func(y []float32, x [][]float32, offset int, l line)) run.Action {
	in, out := operands(c)
	y, axis := out[0], c.Node().Int("axis")
	strides := y.Strides()
	l := line{y.Shape[axis], strides[axis]}
	shape := append([]int{}, y.Shape...)
	shape[axis] = 1
	logical := layout.RowMajor(shape)
	return run.ByUnit(y.Kind, &run.ByRows{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
		x := make([][]float32, len(in))
		for k, v := range in {
			x[k] = layout.View[float32](f.Unit(v, w, y.Kind, i))
		}
		to := layout.View[float32](f.Unit(y, w, y.Kind, i))
		layout.Walk(shape, logical, strides, nil, func(n, _, offset, _, _, step, _ int) {
			for k := range n {
				do(to, x, offset+k*step, l)
			}
		})
	}})
}

// buildSoftmaxGrad computes y*(dy - sum(dy*y)), or for the logarithm of the softmax dy - exp(y)*sum(dy).
func buildSoftmaxGrad(c *plan.Compiler) run.Action {
	logarithm := c.Node().Op == graph.LogSoftmaxGrad
	return lines(c, func(dx []float32, x [][]float32, at int, l line) {
		y, dy, sum := x[0], x[1], 0.0
		for k := at; k < at+l.n*l.step; k += l.step {
			if logarithm {
				sum += float64(dy[k])
			} else {
				sum += float64(float64(dy[k]) * float64(y[k]))
			}
		}
		for k := at; k < at+l.n*l.step; k += l.step {
			v, g := float64(y[k]), float64(dy[k])
			if logarithm {
				dx[k] = float32(g - float64(tensor.Exp(v)*sum))
			} else {
				dx[k] = float32(v * (g - sum))
			}
		}
	})
}
