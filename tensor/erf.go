package tensor

import "math"

// erfFirst is the first place k/8 of erfTable. Numbers nearer to 0 than half of it use a series.
const erfFirst = 7

// twoOverRootPi is the derivative of erf at 0.
const twoOverRootPi = 1.12837916709551257389615890312154517168810125865799771368817144

// Erf returns the error function of x, to within 1 unit in the last place.
func Erf(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x:
		return x
	case a < (erfFirst-0.5)/8:
		// x is added at the end, so that the rounded terms are small.
		return x + float64(x*horner(float64(x*x), erfTaylor[:]))
	case a >= (erfFirst+float64(len(erfTable))-0.5)/8: // 1 - erf is below half a unit in the last place
		return math.Copysign(1, x)
	}
	// Taylor at c = k/8: erf(c + d) = erf(c) + 2/sqrt(pi)*e^(-c*c) * (d - c*d^2 + ...). The terms
	// follow the recurrence of Hermite's polynomials.
	k := math.Floor(float64(8*a) + 0.5)
	c, e := float64(k/8), erfTable[int(k)-erfFirst] // float64: k/8 is compiled to a product, which may be fused
	d := a - c
	cd, dd := float64(-2*c*d), float64(d*d)
	before, term := 0.0, 1.0
	sum := 0.0
	for n := range erfTerms {
		sum += term
		next := float64(cd*term)/float64(n+2) - float64(float64(2*n)*dd*before)/float64((n+1)*(n+2))
		before, term = term, next
	}
	slope := float64(twoOverRootPi * Exp(-float64(c*c)))
	return math.Copysign(e[0]+(e[1]+float64(float64(slope*d)*sum)), x)
}

const erfTerms = 16

// erfTaylor holds (-1)^n * 2/sqrt(pi) / (n! * (2n+1)) for n = 16 to 1, and for n = 0 the value of
// this formula minus 1.
var erfTaylor = [...]float64{
	twoOverRootPi / (33 * 20922789888000), -twoOverRootPi / (31 * 1307674368000),
	twoOverRootPi / (29 * 87178291200), -twoOverRootPi / (27 * 6227020800), twoOverRootPi / (25 * 479001600),
	-twoOverRootPi / (23 * 39916800), twoOverRootPi / (21 * 3628800), -twoOverRootPi / (19 * 362880),
	twoOverRootPi / (17 * 40320), -twoOverRootPi / (15 * 5040), twoOverRootPi / (13 * 720),
	-twoOverRootPi / (11 * 120), twoOverRootPi / (9 * 24), -twoOverRootPi / (7 * 6), twoOverRootPi / (5 * 2),
	-twoOverRootPi / 3, twoOverRootPi - 1,
}
