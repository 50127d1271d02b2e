package class

import (
	"math"

	"github.com/bnctl/bnctl/tensor"
)

// Constants of gelu, mish and erf. Kernels use the float32 nearest to each.
const (
	GeluScale = 0.7978845608028654 // sqrt(2/pi), of the tanh form
	GeluCube  = 0.044715

	ErfSlope    = 1.1283791670955126 // 2/sqrt(pi), the derivative of erf at 0
	GeluDensity = 0.3989422804014327 // 1/sqrt(2*pi)
	GeluSlope   = 3 * GeluScale * GeluCube

	// Above GeluMost and MishMost, and below -GeluMost, the derivatives are constant.
	GeluMost, MishMost = 16, 20
)

// gelu returns 0.5*x*(1 + erf(x/sqrt(2))). It is computed as first*x*(1 + erf(x/sqrt(2)))*last.
func gelu(first, last float32) func(float32) float32 {
	return func(x float32) float32 { return float32(float32(first*x)*(1+Erf(x/math.Sqrt2))) * last }
}

// geluTanh is gelu with the tanh approximation. If x^3 overflows, tanh is 1 or -1.
func geluTanh(first, last float32) func(float32) float32 {
	return func(x float32) float32 { return float32(float32(first*x)*(1+Tanh(geluInner(x)))) * last }
}

// geluInner is the argument of tanh in geluTanh.
func geluInner(x float32) float32 {
	cube := float32(float32(x*x) * x)
	return GeluScale * (x + float32(GeluCube*cube))
}

func mish(x float32) float32 { return x * Tanh(softplus(x)) }

func softplus(x float32) float32 { return either32(x < 0, 0, x) + Log1p(Exp(-abs(x))) }

func erfDerivative(x float32) float32 { return ErfSlope * Exp(-float32(x*x)) }

// geluDerivative is Phi(x) + x*phi(x), with the distribution function Phi and the density phi
// of the normal distribution.
func geluDerivative(x float32) float32 {
	b := bounded(-GeluMost, GeluMost)(x)
	density := Exp(-0.5 * float32(b*b))
	return Fuse(float32(GeluDensity*b), density, Fuse(0.5, Erf(b/math.Sqrt2), 0.5))
}

// geluTanhDerivative is (1 + t)/2 + x/2 * (1 - t^2) * the derivative of geluInner, with
// t = tanh(geluInner(x)).
func geluTanhDerivative(x float32) float32 {
	b := bounded(-GeluMost, GeluMost)(x)
	t := Tanh(geluInner(b))
	inner := Fuse(float32(b*b), GeluSlope, GeluScale)
	return Fuse(float32(float32(0.5*b)*Fuse(-t, t, 1)), inner, Fuse(0.5, t, 0.5))
}

// mishDerivative is the derivative of x*tanh(softplus(x)). With n = e^x and m = n(n + 2),
// tanh(softplus(x)) is m/(m + 2), and its derivative is 4n(n + 1)/(m + 2)^2.
func mishDerivative(x float32) float32 {
	b := bounded(ExpLeast, MishMost)(x)
	n := Exp(b)
	m := float32(n * (n + 2))
	under := m + 2
	slope := float32(float32(4*b)*n) * (n + 1)
	return Fuse(slope, 1/under, m) / under
}

// The functions below are the float64 versions.

func gelu64(x float64) float64 { return 0.5 * x * (1 + erf(x/math.Sqrt2)) }

func geluTanh64(x float64) float64 { return 0.5 * x * (1 + tensor.Tanh(geluInner64(x))) }

func geluInner64(x float64) float64 { return GeluScale * (x + float64(GeluCube*x*x*x)) }

func mish64(x float64) float64 { return x * tensor.Tanh(softplus64(x)) }

func softplus64(x float64) float64 { return max(x, 0) + log1p(tensor.Exp(-math.Abs(x))) }

func erfDerivative64(x float64) float64 { return ErfSlope * tensor.Exp(-x*x) }

func geluDerivative64(x float64) float64 {
	b := min(max(x, -40), 40)
	return float64(0.5*(1+erf(b/math.Sqrt2))) + float64(GeluDensity*b*tensor.Exp(-b*b/2))
}

func geluTanhDerivative64(x float64) float64 {
	b := min(max(x, -40), 40)
	t := tensor.Tanh(geluInner64(b))
	inner := GeluScale + float64(GeluSlope*b*b)
	return float64(0.5*(1+t)) + float64(0.5*b*(1-float64(t*t))*inner)
}

func mishDerivative64(x float64) float64 {
	b := min(max(x, -700), 40)
	n := tensor.Exp(b)
	m := float64(n * (n + 2))
	return (m + float64(4*b*n*(n+1)/(m+2))) / (m + 2)
}

// erf is the series 2/sqrt(pi) * x * e^(-x^2) * sum (2x^2)^n / (1*3*...*(2n+1)). All terms of
// the sum are positive.
func erf(x float64) float64 {
	if !(math.Abs(x) < 6) {
		return either(x != x, x, math.Copysign(1, x))
	}
	term, sum, twice := 1.0, 1.0, float64(2*x*x)
	for n := 3.0; term > 0x1p-54*sum; n += 2 {
		term = float64(term * (twice / n))
		sum += term
	}
	return erfDerivative64(x) * x * sum
}
