package class

import "math"

// The functions below are the elementary functions of float32. They consist of sums, products,
// multiply-adds that round once, quotients, comparisons and integer operations on the bits, so that
// every device can compute the same bits. The error is at most 2 units in the last place, also of
// subnormal results (make test-activations tests all float32). The result for NaN is NaN.

// Coefficients of polynomials, the highest power first, and constants. The kernels of devices use
// the same numbers. go run ./scripts/polynomials prints the polynomials and their errors.
var (
	// ExpSeries approximates (e^r - 1 - r) / r^2 for |r| <= log(2)/2. The error of e^r - 1 is 1.4e-8, relative.
	ExpSeries = [...]float32{0x1.6b9a9cp-10, 0x1.12257ap-07, 0x1.5556f4p-05, 0x1.5554b4p-03, 0x1.fffffep-02}
	// LogSeries approximates (log(1+f) - f) / f^2 for |f| <= 1/3. The error of log(1+f) is 4.6e-9, relative.
	LogSeries = [...]float32{-0x1.07c07ep-03, 0x1.1e73d6p-03, -0x1.f33254p-04, 0x1.1ed42p-03, -0x1.559c8ap-03,
		0x1.99d05ep-03, -0x1.fffef8p-03, 0x1.555506p-02, -0x1p-01}
	// TanhSeries approximates (tanh(x)/x - 1) / x^2 in powers of x^2 for |x| <= 0.55. The error of
	// tanh(x) is 1.1e-9, relative.
	TanhSeries = [...]float32{-0x1.996076p-08, 0x1.58ed5p-06, -0x1.b91f28p-05, 0x1.110cfp-03, -0x1.55554ap-02}
	// ErfSeries approximates erf(x)/x - 1 in powers of x^2 for |x| <= 1. The error of erf(x) is 1.4e-9,
	// relative.
	ErfSeries = [...]float32{0x1.4771fcp-14, -0x1.a3515ep-11, 0x1.53f224p-08, -0x1.b7f71ap-06, 0x1.ce2ce6p-04,
		-0x1.81273ep-02, 0x1.06eba8p-03}
	// ErfcSeries approximates -log(1 - erf(t)) for 1 <= t <= 4. The error of erf(t) is 1.1e-9, relative.
	ErfcSeries = [...]float32{-0x1.86e0a2p-13, 0x1.825c5ap-09, -0x1.65cc02p-06, 0x1.a65384p-04, 0x1.46bae2p-01,
		0x1.2088eep+00, 0x1.660e08p-12}
)

const (
	Log2E = 0x1.715476p+0  // 1/log(2)
	Ln2Hi = 0x1.62e4p-1    // 15 bits, so that its multiples below 2^9 are exact
	Ln2Lo = 0x1.7f7d1cp-20 // log(2) - Ln2Hi
	Ln2   = 0x1.62e43p-1   // log(2)

	// Adding Round to a number below 2^22 and subtracting it again rounds the number to an integer.
	Round = 0x1.8p23

	// Below ExpLeast exp is 0. Above ExpMost it is +Inf. Below Expm1Least exp(x) - 1 is -1.
	ExpLeast, ExpMost, Expm1Least = -104, 89, -20
	// ExpNormalLeast is the smallest integer with an exponential that is not subnormal.
	ExpNormalLeast = -87

	// SigmoidScale, 2^-64, multiplies the numerator and the denominator of a sigmoid: see tail.
	SigmoidScale = 0x1p-64

	// ThirdBits are the bits of 2/3. Subtracting them from the bits of a number gives the n for
	// which the number is 2^n times a value in [2/3, 4/3): see Log.
	ThirdBits = 0x3f2aaaab
	// TanhNear and ErfNear are the upper bounds of |x| for the polynomials in x^2. Above ErfMost
	// erf is 1.
	TanhNear, ErfNear, ErfMost = 0.55, 1, 4
)

// polynomial evaluates a polynomial in x with multiply-adds, from the highest power down.
func polynomial(x float32, coefficients []float32) float32 {
	sum := coefficients[0]
	for _, c := range coefficients[1:] {
		sum = Fuse(sum, x, c)
	}
	return sum
}

// expParts returns n, a whole number, and r with x = n*log(2) + r and |r| <= log(2)/2.
func expParts(x float32) (n int, r float32) {
	whole := Fuse(x, Log2E, Round) - Round
	return int(whole), Fuse(whole, -Ln2Lo, Fuse(whole, -Ln2Hi, x))
}

// scaled returns p * 2^n for p near 1. It is rounded once: the first of the two products is exact.
func scaled(p float32, n int) float32 {
	return float32(p*powerOfTwo(n>>1)) * powerOfTwo(n-n>>1)
}

// powerOfTwo returns 2^n, which is a normal number.
func powerOfTwo(n int) float32 { return math.Float32frombits(uint32(n+127) << 23) }

// Exp returns e^x.
func Exp(x float32) float32 {
	if x != x {
		return x
	}
	n, r := expParts(min(max(x, ExpLeast), ExpMost))
	return scaled(Fuse(r, Fuse(r, polynomial(r, ExpSeries[:]), 1), 1), n)
}

// ExpNormal returns e^x, and +0 for x below ExpNormalLeast. Its smallest result except 0 is
// 1.6e-38.
func ExpNormal(x float32) float32 {
	if x < ExpNormalLeast {
		return 0
	}
	return Exp(x)
}

// Expm1 returns e^x - 1 for x <= 0. The result has the sign of x.
func Expm1(x float32) float32 {
	if x != x {
		return x
	}
	n, r := expParts(max(x, Expm1Least))
	power := powerOfTwo(n)
	return signed(Fuse(nearExp(r), power, power-1), x)
}

// nearExp returns e^r - 1 for |r| <= log(2)/2.
func nearExp(r float32) float32 { return Fuse(float32(r*r), polynomial(r, ExpSeries[:]), r) }

// signed returns |v| with the sign of x.
func signed(v, x float32) float32 {
	const sign = 1 << 31
	return math.Float32frombits(math.Float32bits(v)&^sign | math.Float32bits(x)&sign)
}

// Log returns the natural logarithm of x. It is -Inf for zeros and NaN for negative x.
func Log(x float32) float32 {
	switch {
	case x != x || x < 0:
		return float32(math.NaN())
	case x == 0:
		return float32(math.Inf(-1))
	case x > math.MaxFloat32:
		return x
	}
	n := 0
	if x < 0x1p-126 {
		x, n = x*0x1p23, -23
	}
	// x = 2^n * (1 + f) with 1 + f in [2/3, 4/3).
	power := int32(math.Float32bits(x)-ThirdBits) >> 23
	f := math.Float32frombits(math.Float32bits(x)-uint32(power)<<23) - 1
	return Fuse(float32(n+int(power)), Ln2, nearLog(f))
}

// nearLog returns log(1+f) for f in [-1/3, 1/3].
func nearLog(f float32) float32 { return Fuse(float32(f*f), polynomial(f, LogSeries[:]), f) }

// Log1p returns log(1+z) for z in [0, 1]. From z = 1/3 on it is computed as log(2) + log((1+z)/2).
func Log1p(z float32) float32 {
	if z > 1./3 {
		return Ln2 + nearLog(Fuse(z, 0.5, -0.5))
	}
	return nearLog(z)
}

// Sigmoid returns 1/(1+e^-x). With s = 1/(1+e^|x|) the result is s for x < 0, and 1-s otherwise.
func Sigmoid(x float32) float32 {
	if x != x {
		return x
	}
	s := tail(abs(x))
	if x < 0 {
		return s
	}
	return 1 - s
}

// tail returns 1/(1+e^x) for x >= 0. With e^x = 2^n * (1+p), the denominator is (1 + 2^n) + p * 2^n.
// For n >= 24 the sum 1 + 2^n is rounded, and its rounding error is added to p * 2^n, so that the
// denominator has one rounding. Numerator and denominator are multiplied by 2^-64, so that the
// denominator does not overflow before the quotient is 0.
func tail(x float32) float32 {
	n, r := expParts(min(x, -ExpLeast))
	power := powerOfTwo(n - 64)
	sum := power + SigmoidScale
	return SigmoidScale / (sum + Fuse(nearExp(r), power, SigmoidScale-(sum-power)))
}

// Tanh returns the hyperbolic tangent. It is a polynomial in |x| below TanhNear and
// 1 - 2/(1+e^(2|x|)) from there on, with the sign of x.
func Tanh(x float32) float32 {
	a := abs(x)
	if a < TanhNear {
		s := float32(a * a)
		return signed(Fuse(a, float32(s*polynomial(s, TanhSeries[:])), a), x)
	}
	if x != x {
		return x
	}
	return signed(Fuse(tail(2*a), -2, 1), x)
}

// Erf returns the error function of x. With ErfSeries it is a polynomial in x for |x| < 1. From
// there on it is 1 - e^-q, with the sign of x, where q is the polynomial ErfcSeries.
func Erf(x float32) float32 {
	a := abs(x)
	if a < ErfNear {
		return Fuse(x, polynomial(float32(x*x), ErfSeries[:]), x)
	}
	if x != x {
		return x
	}
	q := polynomial(min(a, ErfMost), ErfcSeries[:])
	return signed(1-Exp(-q), x)
}

// abs returns x without its sign.
func abs(x float32) float32 { return signed(x, 0) }
