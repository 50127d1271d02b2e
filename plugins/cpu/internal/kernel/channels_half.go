package kernel

import "math"

// Rows of bfloat16 in two bytes. Each function below widens its rows to float32,
// does what the one of its name without Half does, and rounds what it stores as
// RoundBF16 does. A sum is that of what is stored.

// SumsHalf adds to sum, per channel, the values of x in float64, in order.
func (s *Set) SumsHalf(sum []float64, x []uint16) {
	n := len(sum)
	from, left := eachColumns(s.halves, n, len(x), func(k *columns[uint16], c, at, count int) {
		k.sums(&sum[c], &x[at], n, count)
	})
	for p := range left {
		for i, v := range x[p*n+from : (p+1)*n] {
			sum[from+i] += float64(widened(v))
		}
	}
}

// DeviationsHalf adds to q, per channel, the squares of x - mean in float64, in order.
func (s *Set) DeviationsHalf(q, mean []float64, x []uint16) {
	n := len(q)
	mean = mean[:n]
	from, left := eachColumns(s.halves, n, len(x), func(k *columns[uint16], c, at, count int) {
		k.deviations(&q[c], &mean[c], &x[at], n, count)
	})
	for p := range left {
		for i, v := range x[p*n+from : (p+1)*n] {
			d := float64(widened(v)) - mean[from+i]
			q[from+i] += float64(d * d)
		}
	}
}

// GradientSumsHalf adds to s1 and s2, per channel, dy and dy*(x - mean) in
// float64, in order.
func (s *Set) GradientSumsHalf(s1, s2, mean []float64, x, dy []uint16) {
	n := len(s1)
	s2, mean, dy = s2[:n], mean[:n], dy[:len(x)]
	from, left := eachColumns(s.halves, n, len(x), func(k *columns[uint16], c, at, count int) {
		k.gradientSums(&s1[c], &s2[c], &mean[c], &x[at], &dy[at], n, count)
	})
	for p := range left {
		for i := from; i < n; i++ {
			g := float64(widened(dy[p*n+i]))
			s1[i] += g
			s2[i] += float64(g * (float64(widened(x[p*n+i])) - mean[i]))
		}
	}
}

// HalfMask is a Mask whose rows are of bfloat16.
type HalfMask struct {
	Y    []uint16
	Plus []uint16 // added to the gradient before, and the sum rounded; unless nil
	Most float32
}

// last returns the largest bits of a bfloat16 above 0 that lets a gradient
// through: those of values above 0 are in their order, and NaN behind them.
func (m *HalfMask) last() uint16 {
	const infinity = 0x7f80
	switch {
	case m.Most != m.Most:
		return infinity
	case m.Most <= 0:
		return 0
	}
	return uint16((math.Float32bits(m.Most) - 1) >> 16)
}

// MaskedSumsHalf sets dx to dy with a mask and does what GradientSumsHalf does
// with it. Without Plus nothing is rounded: dx is dy, bit for bit, or 0.
func (s *Set) MaskedSumsHalf(s1, s2, mean []float64, x, dx, dy []uint16, m HalfMask) {
	n := len(s1)
	s2, mean, dx, dy, m.Y = s2[:n], mean[:n], dx[:len(x)], dy[:len(x)], m.Y[:len(x)]
	last := m.last()
	from, left := eachColumns(s.halves, n, len(x), func(k *columns[uint16], c, at, count int) {
		if m.Plus == nil {
			k.maskedSums(&s1[c], &s2[c], &mean[c], &x[at], &dx[at], &dy[at], &m.Y[at], last, n, count)
			return
		}
		k.maskedSumsPlus(&s1[c], &s2[c], &mean[c], &x[at], &dx[at], &dy[at], &m.Y[at], &m.Plus[:len(x)][at],
			last, n, count)
	})
	for p := range left {
		for i := from; i < n; i++ {
			at := p*n + i
			g, y := dy[at], widened(m.Y[at])
			if m.Plus != nil {
				g = bf16(widened(g) + widened(m.Plus[at]))
			}
			if !(y > 0) || y >= m.Most {
				g = 0
			}
			dx[at] = g
			wide := float64(widened(g))
			s1[i] += wide
			s2[i] += float64(wide * (float64(widened(x[at])) - mean[i]))
		}
	}
}

// HalfEnding is an Ending of rows of bfloat16.
type HalfEnding struct {
	Plus []uint16
	Relu bool
	Most float32
}

// NormaliseHalf sets y to ((x - hi) - lo)*by + add, per channel, with an ending,
// rounded once. y may be x, or what is added.
func (s *Set) NormaliseHalf(y, x []uint16, a Affine, e HalfEnding) {
	n := len(a.Hi)
	y = y[:len(x)]
	bounds := Ending{Relu: e.Relu, Most: e.Most}
	least, most := bounds.bounds()
	from, left := eachColumns(s.halves, n, len(x), func(k *columns[uint16], c, at, count int) {
		hi, lo, by, add := &a.Hi[c], &a.Lo[c], &a.By[c], &a.Add[c]
		if e.Plus == nil {
			k.normalise(hi, lo, by, add, &y[at], &x[at], least, most, n, count)
			return
		}
		k.normalisePlus(hi, lo, by, add, &y[at], &x[at], &e.Plus[:len(x)][at], least, most, n, count)
	})
	for p := range left {
		for i := from; i < n; i++ {
			v := a.at(i, widened(x[p*n+i]))
			if e.Plus != nil {
				v += widened(e.Plus[p*n+i])
			}
			y[p*n+i] = bf16(bounds.bound(v))
		}
	}
}

// NormaliseGradientHalf sets dx to by*((dy - add) - ((x - hi) - lo)*slope), per
// channel, rounded once. dx may be x or dy.
func (s *Set) NormaliseGradientHalf(dx, x, dy []uint16, a Affine, slope []float32) {
	n := len(a.Hi)
	dx, dy, slope = dx[:len(x)], dy[:len(x)], slope[:n]
	from, left := eachColumns(s.halves, n, len(x), func(k *columns[uint16], c, at, count int) {
		k.normaliseGradient(&a.Hi[c], &a.Lo[c], &a.By[c], &a.Add[c], &slope[c], &dx[at], &x[at], &dy[at],
			n, count)
	})
	for p := range left {
		for i := from; i < n; i++ {
			dx[p*n+i] = bf16(a.gradient(i, widened(x[p*n+i]), widened(dy[p*n+i]), slope[i]))
		}
	}
}
