package operations

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
	"github.com/bnctl/bnctl/tensor"
)

// activationOps are the elementwise activations and their gradients.
var activationOps = map[graph.Op]func(c *plan.Compiler) run.Action{
	graph.Relu: buildRelu, graph.Relu6: buildRelu, graph.LeakyRelu: buildActivation,
	graph.Elu: buildActivation, graph.Sigmoid: buildActivation, graph.HardSigmoid: buildActivation,
	graph.Silu: buildActivation, graph.HardSwish: buildActivation, graph.Tanh: buildActivation,
	graph.Softplus: buildActivation, graph.Clip: buildActivation, graph.ActivationGrad: buildActivationGrad,
	graph.Erf: buildActivation, graph.Gelu: buildActivation, graph.GeluTanh: buildActivation,
	graph.Mish: buildActivation, graph.Prelu: buildPrelu, graph.PreluGradInput: buildPreluGradInput,
	graph.PreluGradSlope: buildPreluGradSlope,
}

// functions are the operations with functions of one element that package kernel computes.
var functions = map[graph.Op]kernel.Function{
	graph.Exp: kernel.Exp, graph.Log: kernel.Log, graph.Sigmoid: kernel.Sigmoid, graph.Tanh: kernel.Tanh,
	graph.Silu: kernel.Silu, graph.Softplus: kernel.Softplus, graph.Elu: kernel.Elu,
	graph.LeakyRelu: kernel.LeakyRelu, graph.HardSigmoid: kernel.HardSigmoid,
	graph.HardSwish: kernel.HardSwish, graph.Clip: kernel.Clip, graph.Affine: kernel.AffineOf,
	graph.Erf: kernel.Erf, graph.Gelu: kernel.Gelu, graph.GeluTanh: kernel.GeluTanh, graph.Mish: kernel.Mish,
}

func buildRelu(c *plan.Compiler) run.Action {
	if c.In(0).DType == tensor.F64 {
		return buildActivation(c)
	}
	if c.Node().Op == graph.Relu6 {
		return spans(c, func(y []float32, x [][]float32) { c.Kernels().Relu6(y, x[0]) })
	}
	return spans(c, func(y []float32, x [][]float32) { c.Kernels().Relu(y, x[0]) })
}

func buildActivation(c *plan.Compiler) run.Action {
	if c.In(0).DType == tensor.F64 {
		return unary(c, class.Activation(c.Node()))
	}
	kernels, of := c.Kernels(), functions[c.Node().Op]
	f := class.Activation32(c.Node())
	a, b := class.Numbers(c.Node(), c.Node().Op)
	return spans(c, func(y []float32, x [][]float32) { kernels.Apply(of, y, x[0], a, b, f) })
}

// unary applies fn, in float64, to every element of operand 0.
func unary(c *plan.Compiler, fn func(float64) float64) run.Action {
	x, y := c.In(0), c.Out(0)
	return run.ByUnit(y.Kind, &run.ByRows{Work: 5 * y.Count,
		Row: func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
			from, to := schedule.Span(piece, pieces, y.Count)
			in, out := f.Unit(x, w, y.Kind, i), f.Unit(y, w, y.Kind, i)
			if x.DType == tensor.F64 {
				apply(layout.View[float64](out)[from:to], layout.View[float64](in)[from:to], fn)
			} else {
				apply(layout.View[float32](out)[from:to], layout.View[float32](in)[from:to], fn)
			}
		}})
}

func apply[T float32 | float64](y, x []T, fn func(float64) float64) {
	for i, v := range x {
		y[i] = T(fn(float64(v)))
	}
}

func buildActivationGrad(c *plan.Compiler) run.Action {
	kernels := c.Kernels()
	switch of, _ := graph.ActivationNamed(c.Node().Text("of")); of {
	case graph.Relu:
		return spans(c, func(dx []float32, x [][]float32) { kernels.ReluGradient(dx, x[0], x[1]) })
	case graph.Relu6:
		return spans(c, func(dx []float32, x [][]float32) { kernels.Relu6Gradient(dx, x[0], x[1]) })
	default:
		d := class.Derivative32(c.Node())
		a, b := class.Numbers(c.Node(), of)
		return spans(c, func(dx []float32, x [][]float32) {
			kernels.ApplyGradient(functions[of], dx, x[0], x[1], a, b, d)
		})
	}
}
