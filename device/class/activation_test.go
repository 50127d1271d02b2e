package class_test

import (
	"math"
	"testing"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// activations lists all activations, each with a function that computes the same by package math.
var activations = []struct {
	op    graph.Op
	attrs graph.Attrs
	f     func(x float64) float64
	saves bool // the gradient uses the saved result, not the operand
}{
	{graph.Relu, nil, func(x float64) float64 { return math.Max(x, 0) }, true},
	{graph.Relu6, nil, func(x float64) float64 { return math.Min(math.Max(x, 0), 6) }, true},
	{graph.LeakyRelu, graph.Attrs{}.With("alpha", 0.1), func(x float64) float64 {
		return math.Max(x, 0) + float64(0.1*math.Min(x, 0))
	}, false},
	{graph.Elu, graph.Attrs{}.With("alpha", 0.7), func(x float64) float64 {
		return math.Max(x, 0) + float64(0.7*math.Expm1(math.Min(x, 0)))
	}, false},
	{graph.Sigmoid, nil, func(x float64) float64 { return 0.5 + float64(0.5*math.Tanh(x/2)) }, true},
	{graph.HardSigmoid, graph.Attrs{}.With("alpha", 0.2).With("beta", 0.5), func(x float64) float64 {
		return math.Min(math.Max(float64(0.2*x)+0.5, 0), 1)
	}, false},
	{graph.Silu, nil, func(x float64) float64 { return x / (1 + math.Exp(-x)) }, false},
	{graph.HardSwish, nil, func(x float64) float64 { return x * math.Min(math.Max(x+3, 0), 6) / 6 }, false},
	{graph.Tanh, nil, math.Tanh, true},
	{graph.Softplus, nil, func(x float64) float64 { return math.Log1p(math.Exp(x)) }, false},
	{graph.Erf, nil, math.Erf, false},
	{graph.Gelu, nil, func(x float64) float64 { return x * math.Erfc(-x/math.Sqrt2) / 2 }, false},
	{graph.GeluTanh, graph.Attrs{}.With("halve_last", true), func(x float64) float64 {
		return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+float64(0.044715*x*x*x))))
	}, false},
	{graph.Mish, nil, func(x float64) float64 { return x * math.Tanh(math.Log1p(math.Exp(x))) }, false},
	{graph.Clip, graph.Attrs{}.With("min", -1.0).With("max", 2.0), func(x float64) float64 {
		return math.Min(math.Max(x, -1), 2)
	}, false},
}

// TestActivations compares the definitions with package math, the derivatives with
// difference quotients, and the float32 functions with the float64 functions. device/ref
// and the CPU device share these definitions, so comparing the two would find no error.
func TestActivations(t *testing.T) {
	const h = 1e-6
	for _, a := range activations {
		node := &graph.Node{Op: a.op, Attrs: a.attrs}
		slope := &graph.Node{Op: graph.ActivationGrad, Attrs: a.attrs.With("of", a.op.String())}
		f, d := class.Activation(node), class.Derivative(slope)
		f32, d32 := class.Activation32(node), class.Derivative32(slope)
		for x := -8.025; x < 8; x += 0.11 { // no x is at a kink
			want := a.f(x)
			if got := f(x); !(math.Abs(got-want) <= 1e-14*math.Max(1, math.Abs(want))) {
				t.Errorf("%v(%g) = %g, want %g", a.op, x, got, want)
			}
			saved := x
			if a.saves {
				saved = want
			}
			slope := (a.f(x+h) - a.f(x-h)) / (2 * h)
			if got := d(saved); !(math.Abs(got-slope) <= 1e-8) {
				t.Errorf("slope of %v at %g is %g, want %g", a.op, x, got, slope)
			}
			if got := float64(f32(float32(x))); !(math.Abs(got-want) <= 1e-6*math.Max(1, math.Abs(want))) {
				t.Errorf("%v(%g) is %g on float32, want %g", a.op, x, got, want)
			}
			if got := float64(d32(float32(saved))); !(math.Abs(got-slope) <= 2e-6) {
				t.Errorf("slope of %v at %g is %g on float32, want %g", a.op, x, got, slope)
			}
		}
		if !math.IsNaN(f(math.NaN())) {
			t.Errorf("%v of NaN is %g", a.op, f(math.NaN()))
		}
		for _, x := range []float64{1e-18, -1e-18} { // results must not be lost by cancellation
			if got, want := f(x), a.f(x); !(math.Abs(got-want) <= 1e-15*math.Abs(want)) {
				t.Errorf("%v(%g) = %g, want %g", a.op, x, got, want)
			}
		}
	}
}
