package ref

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// activationGrad: dx = derivative(saved) * dy, element by element.
func activationGrad(c *call) {
	saved, dy, dx := c.in(0).f, c.in(1).f, c.out(0).f
	d := derivativeOf(c.Node)
	for i, v := range saved {
		dx[i] = d(v) * dy[i]
	}
}

// derivativeOf returns the derivative as a function of what the activation
// saves: its result for those that say y, else its operand. At a kink it is 0
// for relu and relu6, for all others the right-hand side.
func derivativeOf(n *graph.Node) func(float64) float64 {
	alpha, beta, low, high := n.Float("alpha"), n.Float("beta"), n.Float("min"), n.Float("max")
	switch of, _ := graph.ActivationNamed(n.Text("of")); of {
	case graph.Relu:
		return func(y float64) float64 { return choose(y > 0, 1, 0) }
	case graph.Relu6:
		return func(y float64) float64 { return choose(y > 0 && y < 6, 1, 0) }
	case graph.LeakyRelu:
		return func(x float64) float64 { return choose(x >= 0, 1, alpha) }
	case graph.Elu:
		return func(x float64) float64 { return choose(x >= 0, 1, alpha*tensor.Exp(x)) }
	case graph.Sigmoid:
		return func(y float64) float64 { return y * (1 - y) }
	case graph.HardSigmoid:
		return func(x float64) float64 {
			t := float64(alpha*x) + beta
			return choose(t >= 0 && t < 1, alpha, 0)
		}
	case graph.Silu:
		return func(x float64) float64 {
			s := sigmoid(x)
			return s * (1 + float64(x*(1-s)))
		}
	case graph.HardSwish:
		return func(x float64) float64 { return choose(x < -3, 0, choose(x < 3, (2*x+3)/6, 1)) }
	case graph.Tanh:
		return func(y float64) float64 { return 1 - float64(y*y) }
	case graph.Softplus:
		return sigmoid
	}
	return func(x float64) float64 { return choose(x >= low && x < high, 1, 0) } // Clip
}
