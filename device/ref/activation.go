package ref

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// activation: y = f(x), element by element.
func activation(c *call) {
	f := activationOf(c.Node)
	for i, v := range c.in(0).f {
		c.out(0).f[i] = f(v)
	}
}

// activationOf returns the function of an activation node. NaN stays NaN.
func activationOf(n *graph.Node) func(float64) float64 {
	switch n.Op {
	case graph.Relu:
		return func(x float64) float64 { return max(x, 0) }
	case graph.Relu6:
		return func(x float64) float64 { return min(max(x, 0), 6) }
	case graph.LeakyRelu:
		alpha := n.Float("alpha")
		return func(x float64) float64 { return choose(x >= 0, x, alpha*x) }
	case graph.Elu:
		alpha := n.Float("alpha")
		return func(x float64) float64 { return choose(x > 0, x, alpha*expm1(x)) }
	case graph.Sigmoid:
		return sigmoid
	case graph.HardSigmoid:
		alpha, beta := n.Float("alpha"), n.Float("beta")
		return func(x float64) float64 { return min(max(float64(alpha*x)+beta, 0), 1) }
	case graph.Silu:
		return func(x float64) float64 { return x * sigmoid(x) }
	case graph.HardSwish:
		return func(x float64) float64 { return x * min(max(x+3, 0), 6) / 6 }
	case graph.Tanh:
		return tensor.Tanh
	case graph.Softplus:
		return func(x float64) float64 { return max(x, 0) + log1p(tensor.Exp(-math.Abs(x))) }
	}
	low, high := n.Float("min"), n.Float("max") // Clip
	return func(x float64) float64 { return min(max(x, low), high) }
}

func choose(condition bool, a, b float64) float64 {
	if condition {
		return a
	}
	return b
}

func sigmoid(x float64) float64 { return 1 / (1 + tensor.Exp(-x)) }

// expm1 returns exp(x)-1 without cancellation near 0 (Kahan; Higham 2002,
// Accuracy and Stability of Numerical Algorithms, 1.14.1).
func expm1(x float64) float64 {
	u := tensor.Exp(x)
	switch d := u - 1; {
	case d == 0:
		return x
	case d == -1 || math.IsInf(d, 1):
		return d
	default:
		return d * x / tensor.Log(u)
	}
}

// log1p returns log(1+x) for x >= 0, likewise.
func log1p(x float64) float64 {
	u := 1 + x
	if u == 1 {
		return x
	}
	return tensor.Log(u) * x / (u - 1)
}
