package ref

import "math"

// stats is a view of moments (n, C means, C sums of squared deviations).
type stats []float64

func (m stats) channels() int             { return len(m) / 2 }
func (m stats) count() float64            { return m[0] }
func (m stats) mean(ch int) float64       { return m[1+ch] }
func (m stats) deviations(ch int) float64 { return m[1+m.channels()+ch] }

// constant reports whether no gradient flows through mean and variance.
func (m stats) constant() bool { return m[0] < 0 }

// inverse returns s = 1/sqrt(Q/|n| + eps). If n is 0, the variance is 0.
func (m stats) inverse(ch int, eps float64) float64 {
	variance := 0.0
	if m[0] != 0 {
		variance = m.deviations(ch) / math.Abs(m[0])
	}
	return 1 / math.Sqrt(variance+eps)
}

// moments computes the moments of each replica and channel in two passes over its rows.
func moments(c *call) {
	x, y := c.in(0), c.out(0)
	channels := x.typ.Shape[0]
	for r := range c.replicas() {
		m := stats(y.block(r))
		m[0] = float64((c.first[r+1] - c.first[r]) * x.size / channels)
		if m[0] == 0 {
			continue
		}
		for ch := range channels {
			c.channel(x, r, ch, func(v float64) { m[1+ch] += v })
			m[1+ch] /= m[0]
			c.channel(x, r, ch, func(v float64) {
				d := v - m[1+ch]
				m[1+channels+ch] += float64(d * d)
			})
		}
	}
}

// channel visits the elements of one channel in the rows of replica r.
func (f *frame) channel(x *array, r, ch int, visit func(float64)) {
	plane := x.size / x.typ.Shape[0]
	for n := f.first[r]; n < f.first[r+1]; n++ {
		for _, v := range x.block(n)[ch*plane : (ch+1)*plane] {
			visit(v)
		}
	}
}

// runningMoments makes moments of a mean and a variance. n = -1 marks them as constant.
func runningMoments(c *call) {
	m := c.out(0).block(0)
	m[0] = -1
	copy(m[1:], c.in(0).block(0))
	copy(m[1+len(m)/2:], c.in(1).block(0))
}

// selectMoments uses the running statistics for a replica with too few values.
func selectMoments(c *call) {
	m, running, y := c.in(0), c.in(1).block(0), c.out(0)
	for r := range y.lead {
		if m.block(r)[0] >= float64(c.Int("min")) {
			copy(y.block(r), m.block(r))
		} else {
			copy(y.block(r), running)
		}
	}
}
