package tensor

import "math"

// The functions below give the same bits on every machine. The functions of package math do not,
// because there the compiler or the assembly may fuse x*y + z. Here every product that is part of a
// sum is wrapped in float64(), which forbids fusing. The error of a result is below 1 unit in the
// last place, and for Tanh below 3 units.

// Exp returns e**x.
func Exp(x float64) float64 {
	switch {
	case x != x || x > 709.782712893384: // e**x overflows
		return x * math.Inf(1)
	case x < -745.1332191019412: // half of the smallest subnormal
		return 0
	}
	p, k := expParts(x)
	return scale(1+p, k)
}

// expParts returns p and k with e**x = 2**k * (1 + p) and |p| < 0.42.
func expParts(x float64) (p float64, k int) {
	// x = n*ln2 + r with |r| <= ln2/2; n*ln2Hi is exact.
	n := math.Floor(float64(x*(1/math.Ln2)) + 0.5)
	hi, lo := x-float64(n*ln2Hi), float64(n*ln2Lo)
	r := hi - lo
	low := (hi - r) - lo // rounding error of r
	// e**r = 1 + r + r^2 * (1/2! + r/3! + ... + r^11/13!)
	return r + (float64(float64(r*r)*horner(r, expTaylor[:])) + low), int(n)
}

// These are the two parts of ln2. The high part has 32 bits.
const (
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
)

// expTaylor holds 1/13!, 1/12!, ..., 1/2!.
var expTaylor = [...]float64{
	1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320,
	1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2,
}

// Log returns the natural logarithm of x.
func Log(x float64) float64 {
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return x
	}
	m, e := math.Frexp(x) // m in [1/2, 1)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	// With f = m-1 and s = f/(2+f): log(m) = 2s + 2s^3/3 + 2s^5/5 + ...,
	// rearranged so that the large term, f, is exact.
	f := m - 1
	s := f / (2 + f)
	z := float64(s * s)
	half := float64(0.5 * float64(f*f))
	rest := float64(s * (half + float64(z*horner(z, logSeries[:]))))
	k := float64(e)
	return float64(k*ln2Hi) - ((half - (rest + float64(k*ln2Lo))) - f)
}

// logSeries holds 2/25, 2/23, ..., 2/3.
var logSeries = [...]float64{
	2. / 25, 2. / 23, 2. / 21, 2. / 19, 2. / 17, 2. / 15, 2. / 13, 2. / 11, 2. / 9, 2. / 7, 2. / 5, 2. / 3,
}

// maxAngle bounds the argument of Sin and Cos, in radians.
const maxAngle = 1 << 20

// Sin returns the sine of x radians; NaN if |x| is above 2^20.
func Sin(x float64) float64 {
	r, low, quadrant := reduce(x)
	return quarter(r, low, quadrant)
}

// Cos returns the cosine of x radians; NaN if |x| is above 2^20.
func Cos(x float64) float64 {
	r, low, quadrant := reduce(x)
	return quarter(r, low, quadrant+1)
}

// Tanh returns the hyperbolic tangent of x.
func Tanh(x float64) float64 {
	if math.Abs(x) > 20 {
		return math.Copysign(1, x)
	}
	// With m = e**2x - 1: tanh(x) = m / (m + 2).
	p, k := expParts(2 * x)
	m := (scale(1, k) - 1) + scale(p, k)
	return m / (m + 2)
}

// reduce returns r + low = x - n*pi/2 with |r| <= pi/4, and n mod 4.
// pi/2 is taken in three parts (Cody and Waite 1980), the first two of 33
// bits, so that their products with n < 2^20 are exact.
func reduce(x float64) (r, low float64, quadrant int) {
	const (
		part1 = 1.57079632673412561417e+00
		part2 = 6.07710050630396597660e-11
		part3 = 2.02226624879595063154e-21
	)
	if !(math.Abs(x) <= maxAngle) {
		return math.NaN(), 0, 0
	}
	n := math.Floor(float64(x*(2/math.Pi)) + 0.5)
	a := x - float64(n*part1)
	b, c := float64(n*part2), float64(n*part3)
	t := a - b
	lost := (a - t) - b
	r = t - (c - lost)
	low = (t - r) - (c - lost)
	return r, low, int(n) & 3
}

// quarter returns sin(r + low + quadrant*pi/2).
func quarter(r, low float64, quadrant int) float64 {
	v := 0.0
	if quadrant&1 == 0 {
		v = sinSmall(r, low)
	} else {
		v = cosSmall(r, low)
	}
	if quadrant&2 != 0 {
		return -v
	}
	return v
}

// sinSmall returns sin(r + low) for |r| <= pi/4 and |low| below an ulp of r.
func sinSmall(r, low float64) float64 {
	z := float64(r * r)
	cube := float64(float64(r*z) * horner(z, sinTaylor[:]))
	return r + (cube + float64(low*(1-float64(0.5*z))))
}

// cosSmall returns cos(r + low) for the same arguments as sinSmall.
func cosSmall(r, low float64) float64 {
	z := float64(r * r)
	half := float64(0.5 * z)
	w := 1 - half
	rest := float64(float64(z*z)*horner(z, cosTaylor[:])) - float64(r*low)
	return w + (((1 - w) - half) + rest)
}

// sinTaylor holds the coefficients of x^17, x^15, ..., x^3.
var sinTaylor = [...]float64{
	1. / 355687428096000, -1. / 1307674368000, 1. / 6227020800, -1. / 39916800, 1. / 362880,
	-1. / 5040, 1. / 120, -1. / 6,
}

// cosTaylor holds the coefficients of x^18, x^16, ..., x^4.
var cosTaylor = [...]float64{
	-1. / 6402373705728000, 1. / 20922789888000, -1. / 87178291200, 1. / 479001600, -1. / 3628800,
	1. / 40320, -1. / 720, 1. / 24,
}

// horner evaluates a polynomial in x; the coefficient of the highest power
// comes first.
func horner(x float64, coefficients []float64) float64 {
	sum := 0.0
	for _, c := range coefficients {
		sum = float64(sum*x) + c
	}
	return sum
}

// scale returns x * 2^k for |x| <= 2, rounded once.
func scale(x float64, k int) float64 {
	switch {
	case k > 1023: // only 2^1024 * x with x < 1 gets here and is finite
		return x * 2 * math.Float64frombits(2046<<52)
	case k < -1022:
		return x * math.Float64frombits(uint64(k+1023+64)<<52) * 0x1p-64
	}
	return x * math.Float64frombits(uint64(k+1023)<<52)
}
