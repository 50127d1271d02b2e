// Command polynomials derives the polynomials of package class's elementary functions:
//
//	go run ./scripts/polynomials
//
// prints them as Go, with the largest error of each before anything is rounded during the
// evaluation. A polynomial is fitted to the remainder of its function on the interval where it is used
// (Lawson 1961: least squares with weights that grow where the error is large, until the largest error
// is least). Its coefficients are rounded to float32 one after the other, the lowest power first, and
// the remaining ones are fitted again each time.
package main

import (
	"fmt"
	"math"
	"math/big"
	"slices"
)

// task is a polynomial that approximates the function of on the interval [from, to]. weight is a factor that
// turns an error of the polynomial into a relative error of the elementary function that uses it.
type task struct {
	name, text string
	degree     int
	from, to   float64
	of, weight func(x float64) float64
}

var tasks = []task{
	{"expSeries", "(e^r - 1 - r) / r^2", 4, -0.3471, 0.3471,
		func(r float64) float64 { return series(r, 2) },
		func(r float64) float64 { return math.Abs(r / series(r, 1)) }},
	{"logSeries", "(log(1+f) - f) / f^2", 8, -0.33334, 0.33334,
		func(f float64) float64 { return logarithm(f, 2) },
		func(f float64) float64 { return math.Abs(f / logarithm(f, 1)) }},
	{"tanhSeries", "(tanh(x)/x - 1) / s, of s = x^2", 4, 0, 0.303,
		func(s float64) float64 { return tangent(s) },
		func(s float64) float64 { return s / (1 + s*tangent(s)) }},
	{"erfSeries", "erf(x)/x - 1, of s = x^2", 6, 0, 1, erfNear,
		func(s float64) float64 { return 1 / (1 + erfNear(s)) }},
	{"erfcSeries", "-log(1 - erf(t))", 6, 1, 4.01,
		func(t float64) float64 { return -math.Log(math.Erfc(t)) },
		func(t float64) float64 { return math.Erfc(t) / math.Erf(t) }},
}

// series returns e^r without the first n terms of its series, divided by r^n.
func series(r float64, n int) float64 {
	sum, term := 0.0, 1/math.Gamma(float64(n+1))
	for k := n + 1; k < 40; k++ {
		sum += term
		term *= r / float64(k)
	}
	return sum
}

// logarithm returns log(1+f) without the first n-1 terms of its series, divided by f^n.
func logarithm(f float64, n int) float64 {
	sum, power := 0.0, 1.0
	for k := n; k < 100; k++ {
		sum += power / float64(k) * float64(1-2*((k+1)%2))
		power *= f
	}
	return sum
}

// tangent returns (tanh(x)/x - 1) / x^2 for x^2 = s. It is computed from the difference of x*cosh(x) and
// sinh(x).
func tangent(s float64) float64 {
	cosh, difference, term := 0.0, 0.0, 1.0 // term is s^k / (2k)!
	for k := range 20 {
		cosh += term
		next := term / float64((2*k+1)*(2*k+2))
		difference -= next * float64(2*k+2) / float64(2*k+3) // s^k * (1/(2k+3)! - 1/(2k+2)!)
		term = next * s
	}
	return difference / cosh
}

// erfNear returns erf(x)/x - 1 for x^2 = s.
func erfNear(s float64) float64 {
	sum, term := 0.0, 1.0
	for k := range 60 {
		sum += term / float64(2*k+1)
		term *= -s / float64(k+1)
	}
	return 2/math.Sqrt(math.Pi)*sum - 1
}

func main() {
	for _, t := range tasks {
		c, worst := t.fit()
		fmt.Printf("\t// %s: %.2g\n\t%s = [...]float32{", t.text, worst, t.name)
		for i, v := range c {
			if i > 0 {
				fmt.Print(", ")
			}
			fmt.Printf("%x", v)
		}
		fmt.Println("}")
	}
}

// fit returns the coefficients of the polynomial, the highest power first, and its largest error.
func (t task) fit() (c []float32, worst float64) {
	known := []float64{}
	for len(known) <= t.degree {
		rest := t.minimax(known)
		known = append(known, float64(float32(rest[0])))
	}
	for _, x := range t.points(5000) {
		worst = max(worst, math.Abs(t.weight(x)*(value(known, x)-t.of(x))))
	}
	for _, v := range slices.Backward(known) {
		c = append(c, float32(v))
	}
	return c, worst
}

// points returns the points of the interval where a Chebyshev polynomial has its extremes.
func (t task) points(n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = (t.from+t.to)/2 - (t.to-t.from)/2*math.Cos(math.Pi*float64(i)/float64(n-1))
	}
	return all
}

// value evaluates a polynomial at x. c has the coefficients, the lowest power first.
func value(c []float64, x float64) (sum float64) {
	for _, v := range slices.Backward(c) {
		sum = sum*x + v
	}
	return sum
}

// minimax returns the coefficients that follow the known ones, so that the largest error is as small as
// possible.
func (t task) minimax(known []float64) []float64 {
	x := t.points(40 * (t.degree + 2))
	by := slices.Repeat([]float64{1}, len(x))
	var best []float64
	least := math.Inf(1)
	for range 60 {
		c := t.leastSquares(known, x, by)
		all := append(slices.Clone(known), c...)
		worst, sum := 0.0, 0.0
		for i, at := range x {
			e := math.Abs(t.weight(at) * (value(all, at) - t.of(at)))
			worst = max(worst, e)
			by[i] *= e
			sum += by[i]
		}
		for i := range by {
			by[i] /= sum
		}
		if worst < least {
			best, least = c, worst
		}
	}
	return best
}

// leastSquares returns the coefficients that minimise a sum of squares. It solves the normal equations in
// numbers of 300 bits.
func (t task) leastSquares(known, x, weights []float64) []float64 {
	n := t.degree + 1 - len(known)
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	m := make([][]*big.Float, n)
	for i := range m {
		for range n + 1 {
			m[i] = append(m[i], number(0))
		}
	}
	for i, at := range x {
		w := t.weight(at)
		row := make([]*big.Float, n+1)
		power := number(w * math.Pow(at, float64(len(known))))
		for k := range n {
			row[k] = power
			power = number(0).Mul(power, number(at))
		}
		row[n] = number(w * (t.of(at) - value(known, at)))
		for j := range n {
			for k := range n + 1 {
				p := number(0).Mul(row[j], row[k])
				m[j][k].Add(m[j][k], p.Mul(p, number(weights[i])))
			}
		}
	}
	return solve(m)
}

// solve solves the equations m by elimination. It needs no pivoting, because the matrix is positive definite.
func solve(m [][]*big.Float) []float64 {
	n := len(m)
	for i := range n {
		for j := range n {
			if i == j {
				continue
			}
			factor := new(big.Float).Quo(m[j][i], m[i][i])
			for k := i; k <= n; k++ {
				m[j][k].Sub(m[j][k], new(big.Float).Mul(factor, m[i][k]))
			}
		}
	}
	out := make([]float64, n)
	for i := range out {
		out[i], _ = new(big.Float).Quo(m[i][n], m[i][i]).Float64()
	}
	return out
}
