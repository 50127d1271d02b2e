package ref

import "github.com/bnctl/bnctl/device/class"

// activation computes y = f(x) for each element.
func activation(c *call) {
	f := class.Activation(c.Node)
	for i, v := range c.in(0).f {
		c.out(0).f[i] = f(v)
	}
}

// activationGrad computes dx = derivative(saved) * dy for each element.
func activationGrad(c *call) {
	saved, dy, dx := c.in(0).f, c.in(1).f, c.out(0).f
	d := class.Derivative(c.Node)
	for i, v := range saved {
		dx[i] = d(v) * dy[i]
	}
}

func choose(condition bool, a, b float64) float64 {
	if condition {
		return a
	}
	return b
}
