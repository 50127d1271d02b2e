package ref

import "github.com/bnctl/bnctl/tensor"

// lines visits the lines of a value along an axis of its shape: element k of
// the line that begins at i is element i + k*stride of the value.
func lines(a *array, axis int, visit func(i, n, stride int)) {
	stride := tensor.Count(a.typ.Shape[axis+1:])
	n := a.typ.Shape[axis]
	for i := range a.lead * a.size {
		if i/stride%n == 0 {
			visit(i, n, stride)
		}
	}
}

// logSumExp returns the largest of the line x[i], x[i+stride], ... and log(sum(exp(x - largest))).
func logSumExp(x []float64, i, n, stride int) (largest, log float64) {
	largest = x[i]
	for k := range n {
		largest = max(largest, x[i+k*stride])
	}
	sum := 0.0
	for k := range n {
		sum += tensor.Exp(x[i+k*stride] - largest)
	}
	return largest, tensor.Log(sum)
}

func softmax(c *call) {
	x, y := c.in(0).f, c.out(0).f
	lines(c.out(0), c.Int("axis"), func(i, n, stride int) {
		largest, log := logSumExp(x, i, n, stride)
		for k := i; k < i+n*stride; k += stride {
			y[k] = tensor.Exp(x[k] - largest - log)
		}
	})
}

func logSoftmax(c *call) {
	x, y := c.in(0).f, c.out(0).f
	lines(c.out(0), c.Int("axis"), func(i, n, stride int) {
		largest, log := logSumExp(x, i, n, stride)
		for k := i; k < i+n*stride; k += stride {
			y[k] = x[k] - largest - log
		}
	})
}

// softmaxGrad computes dx = y*(dy - sum(dy*y)).
func softmaxGrad(c *call) {
	y, dy, dx := c.in(0).f, c.in(1).f, c.out(0).f
	lines(c.out(0), c.Int("axis"), func(i, n, stride int) {
		sum := 0.0
		for k := i; k < i+n*stride; k += stride {
			sum += float64(dy[k] * y[k])
		}
		for k := i; k < i+n*stride; k += stride {
			dx[k] = y[k] * (dy[k] - sum)
		}
	})
}

// logSoftmaxGrad computes dx = dy - exp(y)*sum(dy).
func logSoftmaxGrad(c *call) {
	y, dy, dx := c.in(0).f, c.in(1).f, c.out(0).f
	lines(c.out(0), c.Int("axis"), func(i, n, stride int) {
		sum := 0.0
		for k := i; k < i+n*stride; k += stride {
			sum += dy[k]
		}
		for k := i; k < i+n*stride; k += stride {
			dx[k] = dy[k] - float64(tensor.Exp(y[k])*sum)
		}
	})
}
