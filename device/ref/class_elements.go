package ref

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// defineActivation computes float32 functions by the definitions of package class.
func defineActivation(c *call) {
	if c.in(0).typ.DType != tensor.F32 {
		if elementary[c.Op] != nil {
			unary(c)
		} else {
			activation(c)
		}
		return
	}
	f := class.Activation32(c.Node)
	for i, v := range c.in(0).f {
		c.out(0).f[i] = float64(f(float32(v)))
	}
}

// defineActivationGrad computes the gradient of an activation. For relu and relu6 it is dy where the
// derivative is 1, and +0 elsewhere.
func defineActivationGrad(c *call) {
	y, dy, dx := c.in(0).f, c.in(1).f, c.out(0).f
	of, _ := graph.ActivationNamed(c.Text("of"))
	if of != graph.Relu && of != graph.Relu6 {
		d := class.Derivative32(c.Node)
		for i, v := range y {
			dx[i] = float64(d(float32(v)) * float32(dy[i]))
		}
		return
	}
	for i, v := range y {
		if v > 0 && (of == graph.Relu || v < 6) {
			dx[i] = dy[i]
		}
	}
}

// defineSoftmax computes a softmax or its logarithm line by line, by class.Softmax.
func defineSoftmax(c *call) {
	x, y := c.in(0).f, c.out(0).f
	lines(c.out(0), c.Int("axis"), func(i, n, stride int) {
		from, to := make([]float32, n), make([]float32, n)
		for k := range n {
			from[k] = float32(x[i+k*stride])
		}
		class.Softmax(to, from, c.Op == graph.LogSoftmax)
		for k, v := range to {
			y[i+k*stride] = float64(v)
		}
	})
}

// defineMaxPoolGrad computes the gradient of a max pool. It adds in float32, in the order of the windows.
func defineMaxPoolGrad(c *call) {
	x, dy, dx := c.in(0), c.in(1), c.out(0)
	c.poolWindows(x.typ.Shape, dy.typ.Shape).eachWindow(dy, func(plane, i int, window []int) {
		at := largest(x.f, plane, window)
		dx.f[at] = float64(float32(dx.f[at] + dy.f[i]))
	})
}

// defineAvgPoolGrad computes the gradient of an average pool. It divides and adds in float32, in the
// order of the windows.
func defineAvgPoolGrad(c *call) {
	dy, dx := c.in(0), c.out(0)
	c.poolWindows(dx.typ.Shape, dy.typ.Shape).eachWindow(dy, func(plane, i int, window []int) {
		quotient := float32(dy.f[i]) / float32(c.divisor(window))
		for _, w := range window {
			dx.f[plane+w] = float64(float32(dx.f[plane+w]) + quotient)
		}
	})
}

// defineSoftmaxXent computes the cross-entropy of each replica: the sum of the losses of each row, and
// then the sum over the rows.
func defineSoftmaxXent(c *call) {
	y, classes := c.out(0), c.in(0).typ.Shape[0]
	rows := make([]float64, c.in(0).lead)
	c.eachLabel(func(n, label, i, stride int) {
		rows[n] += float64(c.weight(2, n, label) * c.loss(label, i, classes, stride))
	})
	for n, v := range rows {
		y.block(c.owner[n])[0] += v
	}
}
