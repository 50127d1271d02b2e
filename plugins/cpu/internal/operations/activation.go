package operations

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
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

// functions are the operations that package kernel has as functions of one element.
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

// spans returns an action that works element by element on operands that lie
// as the result does: do is given pieces of a unit of each.
func spans(c *plan.Compiler, do func(y []float32, x [][]float32)) run.Action {
	in, out := operands(c)
	y := out[0]
	// some computes n elements of unit i, at one offset of the result and another of the operands.
	some := func(f *run.Frame, w *run.Worker, i, from, at, n int) {
		x := w.Views[:len(in)]
		for k, v := range in {
			x[k] = run.View[float32](f.Unit(v, w, y.Kind, i))[from : from+n]
		}
		do(run.View[float32](f.Unit(y, w, y.Kind, i))[at:at+n], x)
	}
	a := &run.ByRows{Work: y.Count / 10, Row: func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
		from, to := run.Span(piece, pieces, y.Count)
		some(f, w, i, from, from, to-from)
	}}
	if y.Kind == graph.Rows && y.DType == tensor.F32 && len(y.Shape) > 1 {
		a.Span = func(f *run.Frame, w *run.Worker, i, from, to int) {
			if y.Inserted() {
				among(f, w, i, y, in, from, to, do)
				return
			}
			for n := 0; from < to; from += n {
				p, contiguousIn := contiguous(in[0], from, to-from)
				q, contiguousOut := contiguous(y, from, to-from)
				n = min(contiguousIn, contiguousOut)
				some(f, w, i, p*y.Channels, q*y.Channels, n*y.Channels)
			}
		}
		a.Positions, a.Step, a.Width, a.Pointwise = y.Positions, 1, y.Channels, true
		a.Rings, a.Over = y.Last && len(in) == 1, in
		inserting(c, a, y)
	}
	return run.ByUnit(y.Kind, a)
}

// inserting lets the result of an action by spans lie among the channels of a wider value.
func inserting(c *plan.Compiler, a *run.ByRows, y *run.Value) {
	a.Inserts = true
	c.OnLayout(func() {
		if y.Inserted() {
			run.BySpan(a)
		}
	})
}

// among computes positions [from, to) of row i of y, which lies among the channels of a wider value: some
// that stay in L1, from where they are copied.
func among(f *run.Frame, w *run.Worker, i int, y *run.Value, in []*run.Value, from, to int,
	do func(y []float32, x [][]float32)) {
	const some = 2048 // elements
	var of [5][]float32
	for k, v := range in {
		of[k] = f.At(v, w, i)
	}
	out, positions := run.View[uint32](f.Unit(y, w, y.Kind, i)), max(1, some/y.Channels)
	chunk, x := w.Bytes(4*positions*y.Channels), w.Views[:len(in)]
	for n := 0; from < to; from += n {
		p, some := contiguous(in[0], from, min(positions, to-from))
		n = some
		for k := range in {
			x[k] = of[k][p*y.Channels:][:n*y.Channels]
		}
		do(run.View[float32](chunk)[:n*y.Channels], x)
		kernel.CopyRuns(out[from*y.Step():], run.View[uint32](chunk), y.Channels, n, y.Step(), y.Channels)
	}
}

// contiguous returns where position p of v lies, and how many of n positions from there on lie
// side by side.
func contiguous(v *run.Value, p, n int) (at, some int) {
	if ring := v.Ring(); ring > 0 {
		return p % ring, min(n, ring-p%ring)
	}
	return p, n
}

// unary applies fn, in float64, to every element of operand 0.
func unary(c *plan.Compiler, fn func(float64) float64) run.Action {
	x, y := c.In(0), c.Out(0)
	return run.ByUnit(y.Kind, &run.ByRows{Work: 5 * y.Count,
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
