package operations

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// activationOps are the elementwise activations and their gradients.
var activationOps = map[graph.Op]func(c *run.Compiler) run.Action{
	graph.Relu: buildRelu, graph.Relu6: buildRelu, graph.LeakyRelu: buildActivation,
	graph.Elu: buildActivation, graph.Sigmoid: buildActivation, graph.HardSigmoid: buildActivation,
	graph.Silu: buildActivation, graph.HardSwish: buildActivation, graph.Tanh: buildActivation,
	graph.Softplus: buildActivation, graph.Clip: buildActivation, graph.ActivationGrad: buildActivationGrad,
	graph.Prelu: buildPrelu, graph.PreluGradInput: buildPreluGradInput,
	graph.PreluGradSlope: buildPreluGradSlope,
}

func buildRelu(c *run.Compiler) run.Action {
	if c.In(0).DType == tensor.F64 {
		return buildActivation(c)
	}
	if c.Node.Op == graph.Relu6 {
		return spans(c, func(y []float32, x [][]float32) { c.Kernels.Relu6(y, x[0]) })
	}
	return spans(c, func(y []float32, x [][]float32) { c.Kernels.Relu(y, x[0]) })
}

// spans returns an action that works element by element on operands that lie
// as the result does: do is given pieces of a unit of each.
func spans(c *run.Compiler, do func(y []float32, x [][]float32)) run.Action {
	in, out := operands(c)
	y := out[0]
	some := func(f *run.Frame, w *run.Worker, i, from, to int) {
		x := w.Views[:len(in)]
		for k, v := range in {
			x[k] = run.View[float32](f.Unit(v, w, y.Kind, i))[from:to]
		}
		do(run.View[float32](f.Unit(y, w, y.Kind, i))[from:to], x)
	}
	a := run.Action{Work: y.Count / 10, Row: func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
		from, to := run.Span(piece, pieces, y.Count)
		some(f, w, i, from, to)
	}}
	if y.Kind == graph.Rows && y.Last {
		a.Span = func(f *run.Frame, w *run.Worker, i, from, to int) {
			some(f, w, i, from*y.Channels, to*y.Channels)
		}
		a.Positions, a.Step, a.Width, a.Pointwise = y.Positions, 1, y.Channels, true
	}
	return run.ByUnit(y.Kind, a)
}

// buildActivation computes in float64, element by element.
func buildActivation(c *run.Compiler) run.Action { return unary(c, activationOf(c.Node)) }

// unary applies fn to every element of operand 0.
func unary(c *run.Compiler, fn func(float64) float64) run.Action {
	x, y := c.In(0), c.Out(0)
	return run.ByUnit(y.Kind, run.Action{Work: 5 * y.Count,
		Row: func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
			from, to := run.Span(piece, pieces, y.Count)
			in, out := f.Unit(x, w, y.Kind, i), f.Unit(y, w, y.Kind, i)
			if x.DType == tensor.F64 {
				apply(run.View[float64](out)[from:to], run.View[float64](in)[from:to], fn)
			} else {
				apply(run.View[float32](out)[from:to], run.View[float32](in)[from:to], fn)
			}
		}})
}

func apply[T float32 | float64](y, x []T, fn func(float64) float64) {
	for i, v := range x {
		y[i] = T(fn(float64(v)))
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

// expm1 returns exp(x)-1 without cancellation near 0 (Higham 2002, Accuracy
// and Stability of Numerical Algorithms, 1.14.1).
func expm1(x float64) float64 {
	u := tensor.Exp(x)
	if u == 1 {
		return x
	}
	if u-1 == -1 || math.IsInf(u, 1) {
		return u - 1
	}
	return (u - 1) * x / tensor.Log(u)
}

// log1p returns log(1+x) for x >= 0, likewise.
func log1p(x float64) float64 {
	u := 1 + x
	if u == 1 {
		return x
	}
	return tensor.Log(u) * x / (u - 1)
}

func buildActivationGrad(c *run.Compiler) run.Action {
	kernels := c.Kernels
	switch of, _ := graph.ActivationNamed(c.Node.Text("of")); of {
	case graph.Relu:
		return spans(c, func(dx []float32, x [][]float32) { kernels.ReluGradient(dx, x[0], x[1]) })
	case graph.Relu6:
		return spans(c, func(dx []float32, x [][]float32) { kernels.Relu6Gradient(dx, x[0], x[1]) })
	default:
		d := derivativeOf(c.Node, of)
		return spans(c, func(dx []float32, x [][]float32) {
			for i, v := range x[0] {
				dx[i] = float32(d(float64(v)) * float64(x[1][i]))
			}
		})
	}
}

// derivativeOf returns the derivative as a function of what the activation
// saves (graph.ActivationGrad).
func derivativeOf(n *graph.Node, of graph.Op) func(float64) float64 {
	alpha, beta, low, high := n.Float("alpha"), n.Float("beta"), n.Float("min"), n.Float("max")
	switch of {
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
