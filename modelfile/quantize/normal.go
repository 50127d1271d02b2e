package quantize

import (
	"math"

	"github.com/bnctl/bnctl/tensor"
)

// moments are the mean, the variance and the bounds of the numbers of one channel.
type moments struct {
	mean, variance float64
	bounds         Range
}

var unbounded = Range{math.Inf(-1), math.Inf(1)}

// points is the number of points that approximate a normal distribution.
const points = 129

// grid contains points of the standard normal distribution, up to 8 deviations from the
// mean, and the fraction of the distribution that each point stands for.
var grid = func() (g [points]struct{ at, fraction float64 }) {
	sum := 0.0
	for i := range g {
		g[i].at = 16*float64(i)/(points-1) - 8
		g[i].fraction = tensor.Exp(-0.5 * float64(g[i].at*g[i].at))
		sum += g[i].fraction
	}
	for i := range g {
		g[i].fraction /= sum
	}
	return g
}()

// transformed returns the moments of f applied to numbers that are normally distributed and
// then clipped to m.bounds. bounds are the bounds of the result.
func (m moments) transformed(f func(float64) float64, bounds Range) moments {
	deviation, first, second := math.Sqrt(m.variance), 0.0, 0.0
	for _, p := range grid {
		x := m.mean + float64(deviation*p.at)
		y := f(min(max(x, m.bounds.Low), m.bounds.High))
		first += float64(p.fraction * y)
		second += float64(float64(p.fraction*y) * y)
	}
	return moments{first, max(second-float64(first*first), 0), bounds}
}

// plus returns the moments of the sum of independent numbers.
func (m moments) plus(n moments) moments {
	return moments{m.mean + n.mean, m.variance + n.variance,
		Range{m.bounds.Low + n.bounds.Low, m.bounds.High + n.bounds.High}}
}

// times returns the moments of the product of independent numbers.
func (m moments) times(n moments) moments {
	a, b := m.variance+float64(m.mean*m.mean), n.variance+float64(n.mean*n.mean)
	mean := m.mean * n.mean
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range []float64{m.bounds.Low, m.bounds.High} {
		for _, y := range []float64{n.bounds.Low, n.bounds.High} {
			p := x * y
			if p != p { // 0 times infinity
				p = 0
			}
			low, high = min(low, p), max(high, p)
		}
	}
	return moments{mean, max(float64(a*b)-float64(mean*mean), 0), Range{low, high}}
}

// rangeWithin returns the range of this number of deviations about the mean, clipped to the
// bounds.
func (m moments) rangeWithin(deviations float64) Range {
	reach := deviations * math.Sqrt(m.variance)
	return Range{max(m.mean-reach, m.bounds.Low), min(m.mean+reach, m.bounds.High)}
}
