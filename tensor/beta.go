package tensor

import "math"

// Beta returns a number of the beta distribution with both parameters equal to a: X/(X+Y) of two
// numbers of the gamma distribution.
func (d *Draws) Beta(a float64) float64 {
	x := d.logGamma(a)
	y := d.logGamma(a)
	return 1 / (1 + Exp(min(max(y-x, -700), 700)))
}

// logGamma returns the logarithm of a number of the gamma distribution of shape a (Marsaglia, Tsang
// 2000, A Simple Method for Generating Gamma Variables). For a < 1 it is log(U)/a plus the
// logarithm for shape a+1. U is drawn first.
func (d *Draws) logGamma(a float64) float64 {
	below := 0.0
	if a < 1 {
		below = Log(1-d.Float64()) / a
		a++
	}
	m := a - 1.0/3
	c := 1 / math.Sqrt(float64(9*m))
	for {
		x := d.Normal()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(v*v) * v
		accepted := float64(float64(x*x)*0.5) + m - float64(m*v) + float64(m*Log(v))
		if Log(1-d.Float64()) < accepted {
			return Log(float64(m*v)) + below
		}
	}
}
