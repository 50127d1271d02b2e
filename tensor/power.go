package tensor

import "math"

// Pow returns x**y, to within 1 unit in the last place, and exactly if the result is a float64.
// Special cases follow C and IEEE 754: 1 for y = 0 and for x = 1, even if the other is NaN; NaN for
// x < 0 and y that is not an integer; the sign of x for odd y.
func Pow(x, y float64) float64 {
	size := math.Abs(x)
	whole := y == math.Floor(y)
	odd := whole && math.Abs(y) < 1<<53 && 2*math.Floor(0.5*y) != y
	switch {
	case y == 0 || x == 1:
		return 1
	case x != x || y != y:
		return math.NaN()
	case x < 0 && !whole:
		if math.IsInf(x, 0) {
			break
		}
		return math.NaN()
	}
	p := power(size, y)
	if odd && math.Signbit(x) {
		return -p
	}
	return p
}

// power returns x**y for x at least 0, where neither x nor y is NaN.
func power(x, y float64) float64 {
	switch grows := y > 0; {
	case x == 0 || math.IsInf(x, 1):
		if (x == 0) == grows {
			return 0
		}
		return math.Inf(1)
	case x == 1:
		return 1
	case math.IsInf(y, 0):
		if (x < 1) == grows {
			return 0
		}
		return math.Inf(1)
	}
	high, low := logParts(x)
	p := float64(y * high)
	switch {
	case p > 710:
		return math.Inf(1)
	case p < -746:
		return 0
	}
	return expOf(p, math.FMA(y, high, -p)+float64(y*low))
}

// logParts returns the logarithm of x as the sum of two numbers. The first is within a unit in the
// last place of the logarithm, and the sum within 2**-65 of it. logParts may use math.FMA, which is
// exact on every machine.
func logParts(x float64) (high, low float64) {
	m, e := math.Frexp(x) // m in [1/2, 1)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	// With s + sLow = f/(2+f): log(m) = 2s * (1 + z/3 + z^2/5 + ...), z = s^2.
	f := m - 1
	t := 2 + f
	tLow := f - (t - 2)
	s := f / t
	sLow := (math.FMA(-s, t, f) - float64(s*tLow)) / t
	z := float64(s * s)
	zLow := math.FMA(s, s, -z) + float64(2*s*sLow)
	third := z / 3
	thirdLow := math.FMA(-3, third, z)/3 + zLow/3
	rest := float64(float64(z*z) * horner(z, atanhSeries[:]))
	w := third + rest
	wLow := (third - w) + rest + thirdLow
	s, sLow = 2*s, 2*sLow
	p := float64(s * w)
	pLow := math.FMA(s, w, -p) + float64(s*wLow) + float64(sLow*w)
	a := s + p
	aLow := (s - a) + p + (sLow + pLow)
	k := float64(e)
	whole := float64(k * ln2Hi)
	high = whole + a
	return high, (whole - high) + a + (float64(k*ln2Lo) + aLow)
}

// atanhSeries holds 1/27, 1/25, ..., 1/5.
var atanhSeries = [...]float64{
	1. / 27, 1. / 25, 1. / 23, 1. / 21, 1. / 19, 1. / 17, 1. / 15, 1. / 13, 1. / 11, 1. / 9, 1. / 7, 1. / 5,
}

// expOf returns e**(x + low) for x from -746 to 710, where low is below a unit in the last place of x.
func expOf(x, low float64) float64 {
	n := math.Floor(float64(x*(1/math.Ln2)) + 0.5)
	high := x - float64(n*ln2Hi)
	low -= float64(n * ln2Lo)
	r := high + low
	rLow := (high - r) + low
	one := 1 + r
	lost := (1 - one) + r
	rest := lost + (float64(float64(r*r)*horner(r, expTaylor[:])) + rLow)
	return scale(one+rest, int(n))
}
