package class

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Activation returns the function of an activation node, in float64, which defines
// the node's result for each element. NaN stays NaN.
func Activation(n *graph.Node) func(float64) float64 {
	switch n.Op {
	case graph.Relu:
		return func(x float64) float64 { return max(x, 0) }
	case graph.Relu6:
		return func(x float64) float64 { return min(max(x, 0), 6) }
	case graph.LeakyRelu:
		alpha := n.Float("alpha")
		return func(x float64) float64 { return either(x >= 0, x, alpha*x) }
	case graph.Elu:
		alpha := n.Float("alpha")
		return func(x float64) float64 { return either(x > 0, x, alpha*expm1(x)) }
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
		return softplus64
	case graph.Erf:
		return erf
	case graph.Gelu:
		return gelu64
	case graph.GeluTanh:
		return geluTanh64
	case graph.Mish:
		return mish64
	}
	low, high := n.Float("min"), n.Float("max") // graph.Clip
	return func(x float64) float64 { return min(max(x, low), high) }
}

// Derivative returns the derivative of the activation of an ActivationGrad node,
// as a function of the value that the activation saves: its result if
// graph.SavesResult, else its operand. At a kink it is 0 for relu and relu6, and
// the right-hand derivative for all others.
func Derivative(n *graph.Node) func(float64) float64 {
	alpha, beta, low, high := n.Float("alpha"), n.Float("beta"), n.Float("min"), n.Float("max")
	switch of, _ := graph.ActivationNamed(n.Text("of")); of {
	case graph.Relu:
		return func(y float64) float64 { return either(y > 0, 1, 0) }
	case graph.Relu6:
		return func(y float64) float64 { return either(y > 0 && y < 6, 1, 0) }
	case graph.LeakyRelu:
		return func(x float64) float64 { return either(x >= 0, 1, alpha) }
	case graph.Elu:
		return func(x float64) float64 { return either(x >= 0, 1, alpha*tensor.Exp(x)) }
	case graph.Sigmoid:
		return func(y float64) float64 { return y * (1 - y) }
	case graph.HardSigmoid:
		return func(x float64) float64 {
			t := float64(alpha*x) + beta
			return either(t >= 0 && t < 1, alpha, 0)
		}
	case graph.Silu:
		return func(x float64) float64 {
			s := sigmoid(x)
			return s * (1 + float64(x*(1-s)))
		}
	case graph.HardSwish:
		return func(x float64) float64 { return either(x < -3, 0, either(x < 3, (2*x+3)/6, 1)) }
	case graph.Tanh:
		return func(y float64) float64 { return 1 - float64(y*y) }
	case graph.Softplus:
		return sigmoid
	case graph.Erf:
		return erfDerivative64
	case graph.Gelu:
		return geluDerivative64
	case graph.GeluTanh:
		return geluTanhDerivative64
	case graph.Mish:
		return mishDerivative64
	}
	return func(x float64) float64 { return either(x >= low && x < high, 1, 0) } // graph.Clip
}

// either returns a if the condition is true, and b otherwise.
func either(condition bool, a, b float64) float64 {
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

// log1p returns log(1+x) for x >= 0, without cancellation near 0 (see expm1).
func log1p(x float64) float64 {
	u := 1 + x
	if u == 1 {
		return x
	}
	return tensor.Log(u) * x / (u - 1)
}
