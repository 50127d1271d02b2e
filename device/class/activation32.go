package class

import (
	"math"

	"github.com/bnctl/bnctl/graph"
)

// Activation32 returns the float32 function of an activation node, or of exp, log or
// affine. It defines the result of each element in every class except Ref. A compound
// activation is the sequence of its parts, each rounded, so that silu(x) and x * sigmoid(x)
// have the same bits. Attributes are rounded to float32 first. Clipping to bounds keeps -0.
// NaN stays NaN.
func Activation32(n *graph.Node) func(float32) float32 {
	a, b := Numbers(n, n.Op)
	switch n.Op {
	case graph.LeakyRelu:
		return func(x float32) float32 { return either32(x >= 0, x, a*x) }
	case graph.Elu:
		return func(x float32) float32 {
			if x > 0 {
				return x
			}
			return a * Expm1(x)
		}
	case graph.Sigmoid:
		return Sigmoid
	case graph.HardSigmoid:
		return hardSigmoid(a, b)
	case graph.Silu:
		return func(x float32) float32 { return x * Sigmoid(x) }
	case graph.HardSwish:
		gate := hardSigmoid(a, b)
		return func(x float32) float32 { return x * gate(x) }
	case graph.Tanh:
		return Tanh
	case graph.Softplus:
		return softplus
	case graph.Erf:
		return Erf
	case graph.Gelu:
		return gelu(a, b)
	case graph.GeluTanh:
		return geluTanh(a, b)
	case graph.Mish:
		return mish
	case graph.Exp:
		return Exp
	case graph.Log:
		return Log
	case graph.Affine:
		return func(x float32) float32 { return float32(a*x) + b }
	}
	return bounded(a, b) // graph.Relu, Relu6 or Clip
}

// Numbers returns the two parameters of the activation op. n is a node of this activation or of its
// gradient. The parameters are bounds or factors from the attributes of n. For gelu they are the first and
// the last factor.
func Numbers(n *graph.Node, op graph.Op) (a, b float32) {
	switch op {
	case graph.Relu:
		return 0, float32(math.Inf(1))
	case graph.Relu6:
		return 0, 6
	case graph.LeakyRelu, graph.Elu:
		return float32(n.Float("alpha")), 0
	case graph.HardSigmoid:
		return float32(n.Float("alpha")), float32(n.Float("beta"))
	case graph.HardSwish:
		return 1. / 6, 0.5
	case graph.Affine:
		if n.Float("add") == 0 {
			return float32(n.Float("by")), float32(math.Copysign(0, -1)) // adding -0 changes no value
		}
		return float32(n.Float("by")), float32(n.Float("add"))
	case graph.Gelu, graph.GeluTanh:
		if n.Op == op && n.Bool("halve_last") {
			return 1, 0.5
		}
		return 0.5, 1
	case graph.Clip:
		return float32(n.Float("min")), float32(n.Float("max"))
	}
	return 0, 0
}

// bounded returns a function that clips its argument to [low, high].
func bounded(low, high float32) func(float32) float32 {
	return func(x float32) float32 {
		if x < low {
			x = low
		}
		if x > high {
			x = high
		}
		return x
	}
}

// hardSigmoid returns a function that clips a*x + b to [0, 1]. It rounds the product, and then the sum.
func hardSigmoid(a, b float32) func(float32) float32 {
	bound := bounded(0, 1)
	return func(x float32) float32 { return bound(float32(a*x) + b) }
}

// Derivative32 is Derivative in float32. The gradient for the operand is the derivative times
// the gradient of the result, rounded. For relu and relu6 the gradient for the operand is the
// gradient of the result where the derivative is 1, and +0 elsewhere.
func Derivative32(n *graph.Node) func(float32) float32 {
	of, _ := graph.ActivationNamed(n.Text("of"))
	a, b := Numbers(n, of)
	switch of {
	case graph.Relu:
		return func(y float32) float32 { return either32(y > 0, 1, 0) }
	case graph.Relu6:
		return func(y float32) float32 { return either32(y > 0 && y < 6, 1, 0) }
	case graph.LeakyRelu:
		return func(x float32) float32 { return either32(x >= 0, 1, a) }
	case graph.Elu:
		return func(x float32) float32 {
			if x >= 0 {
				return 1
			}
			return a * Exp(x)
		}
	case graph.Sigmoid:
		return func(y float32) float32 { return y * (1 - y) }
	case graph.HardSigmoid:
		return func(x float32) float32 {
			t := float32(a*x) + b
			return either32(t >= 0 && t < 1, a, 0)
		}
	case graph.Silu:
		return func(x float32) float32 {
			s := Sigmoid(x)
			return s * Fuse(x, 1-s, 1)
		}
	case graph.HardSwish:
		return func(x float32) float32 {
			p := float32(a * x)
			t := p + b
			return either32(t < 0, 0, either32(t >= 1, 1, t+p))
		}
	case graph.Tanh:
		return func(y float32) float32 { return Fuse(-y, y, 1) }
	case graph.Softplus:
		return Sigmoid
	case graph.Erf:
		return erfDerivative
	case graph.Gelu:
		return geluDerivative
	case graph.GeluTanh:
		return geluTanhDerivative
	case graph.Mish:
		return mishDerivative
	}
	return func(x float32) float32 { return either32(x >= a && x < b, 1, 0) } // Clip
}

// either32 returns a if the condition is true, and b otherwise.
func either32(condition bool, a, b float32) float32 {
	if condition {
		return a
	}
	return b
}
