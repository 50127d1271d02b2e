package cpu

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// line is n elements that lie step apart.
type line struct{ n, step int }

// lines returns an action that calls do for every line along the node's axis
// of every unit of its result: where it begins in the operands x and in y.
func (c *compiler) lines(do func(y []float32, x [][]float32, at int, l line)) action {
	in, out := c.operands()
	y, axis := out[0], c.node.Int("axis")
	strides := y.strides()
	l := line{y.Shape[axis], strides[axis]}
	shape := append([]int{}, y.Shape...)
	shape[axis] = 1
	logical := rowMajor(shape)
	return byUnit(y.Kind, action{row: func(f *frame, w *worker, i, _, _ int) {
		x := make([][]float32, len(in))
		for k, v := range in {
			x[k] = of[float32](f.unit(v, w, y.Kind, i))
		}
		to := of[float32](f.unit(y, w, y.Kind, i))
		walk(shape, logical, strides, nil, func(n, _, at, _, _, step, _ int) {
			for k := range n {
				do(to, x, at+k*step, l)
			}
		})
	}})
}

// logSumExp returns the largest element of a line and log(sum(exp(x - largest))).
func (l line) logSumExp(x []float32) (largest, log float64) {
	largest = float64(x[0])
	for k := range l.n {
		largest = max(largest, float64(x[k*l.step]))
	}
	sum := 0.0
	for k := range l.n {
		sum += tensor.Exp(float64(x[k*l.step]) - largest)
	}
	return largest, tensor.Log(sum)
}

func buildSoftmax(c *compiler) action {
	finish := func(v float64) float64 { return v }
	if c.node.Op == graph.Softmax {
		finish = tensor.Exp
	}
	return c.lines(func(out []float32, x [][]float32, at int, l line) {
		largest, log := l.logSumExp(x[0][at:])
		for k := at; k < at+l.n*l.step; k += l.step {
			out[k] = float32(finish(float64(x[0][k]) - largest - log))
		}
	})
}

// buildSoftmaxGrad: y*(dy - sum(dy*y)); of the logarithm dy - exp(y)*sum(dy).
func buildSoftmaxGrad(c *compiler) action {
	logarithm := c.node.Op == graph.LogSoftmaxGrad
	return c.lines(func(dx []float32, x [][]float32, at int, l line) {
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
