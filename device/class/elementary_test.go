package class_test

import (
	"math"
	"testing"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// elementary lists the functions with the largest permitted error. The error is given in units in the
// last place and, for compound functions, also as a part of |x|; the larger bound counts. The reference
// is package math, with an error of a few units in the last place of float64.
var elementary = []struct {
	name  string
	f     func(float32) float32
	truth func(float64) float64
	ulps  float64
	of    float64 // permitted error divided by |x|: 0 or 2^-23
}{
	{"exp", class.Exp, math.Exp, 2, 0},
	{"expm1", func(x float32) float32 { return class.Expm1(min(x, 0)) },
		func(x float64) float64 { return math.Expm1(min(x, 0)) }, 2, 0},
	{"log", class.Log, math.Log, 2, 0},
	{"log1p", func(x float32) float32 { return class.Log1p(min(max(x, 0), 1)) },
		func(x float64) float64 { return math.Log1p(min(max(x, 0), 1)) }, 2, 0},
	{"sigmoid", class.Sigmoid, logistic, 2, 0},
	{"tanh", class.Tanh, math.Tanh, 2, 0},
	{"erf", class.Erf, math.Erf, 2, 0},
	{"silu", of(graph.Silu), func(x float64) float64 { return x * logistic(x) }, 4, 0x1p-23},
	{"hard_swish", of(graph.HardSwish),
		func(x float64) float64 { return x * math.Min(math.Max(x/6+0.5, 0), 1) }, 4, 0x1p-23},
	{"softplus", of(graph.Softplus),
		func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }, 4, 0x1p-23},
	{"gelu", of(graph.Gelu), phi, 4, 0x1p-23},
	{"gelu_tanh", of(graph.GeluTanh), func(x float64) float64 {
		return x * logistic(2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))
	}, 4, 0x1p-23},
	{"mish", of(graph.Mish), mish, 4, 0x1p-23},
	{"elu", of(graph.Elu, "alpha", 1.0),
		func(x float64) float64 { return max(x, 0) + math.Expm1(min(x, 0)) }, 4, 0x1p-23},
}

// phi is x times the normal distribution function, computed without cancellation for x < 0.
func phi(x float64) float64 {
	if math.IsInf(x, -1) {
		return math.NaN() // -Inf * 0
	}
	return x * math.Erfc(-x/math.Sqrt2) / 2
}

// mish is x * n(n + 2) / (n(n + 2) + 2) with n = e^x.
func mish(x float64) float64 {
	if x > 40 {
		return x
	}
	n := math.Exp(x)
	return x * (n * (n + 2)) / (n*(n+2) + 2)
}

func logistic(x float64) float64 {
	if x < 0 {
		return math.Exp(x) / (1 + math.Exp(x))
	}
	return 1 / (1 + math.Exp(-x))
}

// of returns the function of an activation.
func of(o graph.Op, attrs ...any) func(float32) float32 {
	n := &graph.Node{Op: o}
	for i := 0; i < len(attrs); i += 2 {
		n.Attrs = n.Attrs.With(attrs[i].(string), attrs[i+1])
	}
	return class.Activation32(n)
}

// slope returns the derivative of an activation.
func slope(o graph.Op) func(float32) float32 {
	return class.Derivative32(&graph.Node{Op: graph.ActivationGrad, Attrs: graph.Attrs{}.With("of", o.String())})
}

// ulpsOff returns the difference between got and want in units in the last place of want.
func ulpsOff(got float32, want float64) float64 {
	w := float32(want)
	if got == w || got != got && w != w {
		return 0
	}
	if got != got || w != w || math.IsInf(float64(got), 0) || math.IsInf(float64(w), 0) {
		return math.Inf(1)
	}
	unit := math.Ldexp(1, max(math.Ilogb(want), -126)-23)
	return math.Abs(float64(got)-want) / unit
}

// some is the step from one tested bit pattern to the next in TestElementary. make test-activations tests
// every float32 with the CPU device's kernels.
const some = 4099

// TestElementaryAtTheEdges tests special values and limits, and the sign of zero.
func TestElementaryAtTheEdges(t *testing.T) {
	inf, nan, tiny := math.Inf(1), math.NaN(), math.SmallestNonzeroFloat32
	zero := math.Copysign(0, -1)
	for _, c := range []struct {
		name    string
		f       func(float32) float32
		x, want []float64
	}{
		{"exp", class.Exp, []float64{inf, -inf, nan, zero, 0, tiny, -103.97, -103.98, 88.73},
			[]float64{inf, 0, nan, 1, 1, 1, tiny, 0, inf}},
		{"expm1", class.Expm1, []float64{-inf, nan, zero, 0, -tiny}, []float64{-1, nan, zero, 0, -tiny}},
		{"log", class.Log, []float64{inf, -inf, nan, zero, 0, 1, -tiny, tiny},
			[]float64{inf, nan, nan, -inf, -inf, 0, nan, -103.27893}},
		{"sigmoid", class.Sigmoid, []float64{inf, -inf, nan, zero, tiny, -103.97, -104},
			[]float64{1, 0, nan, 0.5, 0.5, tiny, 0}},
		{"tanh", class.Tanh, []float64{inf, -inf, nan, zero, 0, tiny}, []float64{1, -1, nan, zero, 0, tiny}},
		{"erf", class.Erf, []float64{inf, -inf, nan, zero, 0, -tiny}, []float64{1, -1, nan, zero, 0, -tiny}},
		{"silu", of(graph.Silu), []float64{inf, -inf, nan, zero, -120}, []float64{inf, nan, nan, zero, zero}},
		{"hard_swish", of(graph.HardSwish), []float64{inf, -inf, nan, zero, -3}, []float64{inf, nan, nan, zero, zero}},
		{"softplus", of(graph.Softplus), []float64{inf, -inf, nan, -200}, []float64{inf, 0, nan, 0}},
		{"gelu", of(graph.Gelu), []float64{inf, -inf, nan, zero, 0, -1e38, 0x1p127, tiny, -0x1p-125},
			[]float64{inf, nan, nan, zero, 0, zero, 0x1p127, 0, -0x1p-126}},
		{"gelu, the half last", of(graph.Gelu, "halve_last", true), []float64{inf, -inf, nan, zero, -1e38, 0x1p127},
			[]float64{inf, nan, nan, zero, zero, inf}},
		{"gelu_tanh", of(graph.GeluTanh), []float64{inf, -inf, nan, zero, -1e30, 1e30, 7e12, 0x1p127, tiny},
			[]float64{inf, nan, nan, zero, zero, 1e30, 7e12, 0x1p127, 0}},
		{"mish", of(graph.Mish), []float64{inf, -inf, nan, zero, -200, 1e38, tiny}, []float64{inf, nan, nan, zero,
			zero, 1e38, tiny}},
		{"erf slope", slope(graph.Erf), []float64{inf, -inf, nan, 1e30}, []float64{0, 0, nan, 0}},
		{"gelu slope", slope(graph.Gelu), []float64{inf, -inf, nan, 1e30, -1e30, zero},
			[]float64{1, 0, nan, 1, 0, 0.5}},
		{"gelu_tanh slope", slope(graph.GeluTanh), []float64{inf, -inf, nan, 1e30, -1e30, zero},
			[]float64{1, 0, nan, 1, 0, 0.5}},
		{"mish slope", slope(graph.Mish), []float64{inf, -inf, nan, 1e30, -1e30, zero},
			[]float64{1, 0, nan, 1, 0, 0.6}},
		{"affine", of(graph.Affine, "by", -1.0), []float64{inf, nan, zero, 0, tiny}, []float64{-inf, nan, 0, zero, -tiny}},
		{"affine with a sum", of(graph.Affine, "by", -1.0, "add", 2.0), []float64{inf, nan, zero, 0, tiny},
			[]float64{-inf, nan, 2, 2, 2}},
		{"elu", of(graph.Elu, "alpha", 2.0), []float64{inf, -inf, nan, zero}, []float64{inf, -2, nan, zero}},
		{"leaky_relu", of(graph.LeakyRelu, "alpha", 0.0), []float64{inf, -inf, nan, zero, -1},
			[]float64{inf, nan, nan, zero, zero}},
		{"clip", of(graph.Clip, "min", 0.0, "max", 6.0), []float64{inf, -inf, nan, zero}, []float64{6, 0, nan, zero}},
	} {
		for i, x := range c.x {
			got, want := c.f(float32(x)), float32(c.want[i])
			if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
				t.Errorf("%s(%g) = %g, want %g", c.name, x, got, want)
			}
		}
	}
}

// TestSigmoidWhereItIsSmall tests x with e^x >= 2^24, since 1 + e^x is not a float32 there.
func TestSigmoidWhereItIsSmall(t *testing.T) {
	for bits := math.Float32bits(16); bits < math.Float32bits(20); bits++ {
		x := -math.Float32frombits(bits)
		if e := ulpsOff(class.Sigmoid(x), logistic(float64(x))); e > 1.6 {
			t.Fatalf("sigmoid(%g) is off by %.2f ulp", x, e)
		}
	}
}

// TestElementary tests float32 of all magnitudes.
func TestElementary(t *testing.T) {
	for _, f := range elementary {
		worst, at := 0.0, float32(0)
		for bits := uint64(0); bits < 1<<32; bits += some {
			x := math.Float32frombits(uint32(bits))
			got, want := f.f(x), f.truth(float64(x))
			if e := ulpsOff(got, want); e > worst && !(math.Abs(float64(got)-want) <= f.of*math.Abs(float64(x))) {
				worst, at = e, x
			}
		}
		if worst > f.ulps {
			t.Errorf("%s(%g) is off by %.2f ulp: %g, want %g", f.name, at, worst, f.f(at), f.truth(float64(at)))
		}
	}
}

// TestChains checks that compound functions have the bits of their parts, applied one after the other.
func TestChains(t *testing.T) {
	erf, tanh, softplus := of(graph.Erf), of(graph.Tanh), of(graph.Softplus)
	sigmoid, hard := of(graph.Sigmoid), of(graph.HardSigmoid)
	half, one := of(graph.Affine, "by", 0.5), of(graph.Affine, "add", 1.0)
	cube, scale := of(graph.Affine, "by", 0.044715), of(graph.Affine, "by", math.Sqrt(2/math.Pi))
	inner := func(x float32) float32 {
		square := x * x
		more := square * x
		return scale(x + cube(more))
	}
	var root float32 = math.Sqrt2
	for _, c := range []struct {
		name         string
		whole, parts func(x float32) float32
	}{
		{"silu", of(graph.Silu), func(x float32) float32 { return x * sigmoid(x) }},
		{"hard_swish", of(graph.HardSwish), func(x float32) float32 { return x * hard(x) }},
		{"gelu", of(graph.Gelu), func(x float32) float32 { return half(x) * one(erf(x/root)) }},
		{"gelu, half of the gate", of(graph.Gelu), func(x float32) float32 { return x * half(one(erf(x/root))) }},
		{"gelu, the half last", of(graph.Gelu, "halve_last", true),
			func(x float32) float32 { return half(x * one(erf(x/root))) }},
		{"gelu_tanh", of(graph.GeluTanh), func(x float32) float32 { return half(x) * one(tanh(inner(x))) }},
		{"gelu_tanh, the half last", of(graph.GeluTanh, "halve_last", true),
			func(x float32) float32 { return half(x * one(tanh(inner(x)))) }},
		{"mish", of(graph.Mish), func(x float32) float32 { return x * tanh(softplus(x)) }},
	} {
		for bits := uint64(0); bits < 1<<32; bits += some {
			x := math.Float32frombits(uint32(bits))
			got, want := c.whole(x), c.parts(x)
			if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
				t.Fatalf("%s(%g) is %g, its parts give %g", c.name, x, got, want)
			}
		}
	}
}
