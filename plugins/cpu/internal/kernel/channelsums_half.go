package kernel

import "math"

// SumsHalf sets sum, per channel, to the sum of the values of x.
func (s *Set) SumsHalf(sum []float64, x []uint16, r *SumWorkspace) {
	totals(sum, len(x), r, func(partial []float32, from, to int) { s.addSumsHalf(partial, x[from:to]) })
	widenSums(sum, x, len(sum), 0)
}

func (s *Set) addSumsHalf(sum []float32, x []uint16) {
	n := len(sum)
	from, left := eachColumns(s.sumHalves, n, len(x), func(k *sumColumns[uint16], c, at, count int) {
		k.sums(&sum[c], &x[at], n, count)
	})
	for p := range left {
		for i, v := range x[p*n+from : (p+1)*n] {
			sum[from+i] += widened(v)
		}
	}
}

// MomentsHalf sets mean and q, per channel, to the moments of the values of x.
func (s *Set) MomentsHalf(mean, q []float64, x []uint16, r *SumWorkspace) {
	moments(mean, q, len(x), r, 0, nil,
		func(sum []float32, from, to int) { s.addSumsHalf(sum, x[from:to]) },
		func(sum, squares, shift []float32, from, to int) {
			s.addDeviationsHalf(sum, squares, shift, x[from:to])
		})
	widenMoments(mean, q, x)
}

func (s *Set) addDeviationsHalf(sum, squares, shift []float32, x []uint16) {
	n := len(sum)
	squares, shift = squares[:n], shift[:n]
	from, left := eachColumns(s.sumHalves, n, len(x), func(k *sumColumns[uint16], c, at, count int) {
		k.deviations(&sum[c], &squares[c], &shift[c], &x[at], n, count)
	})
	for p := range left {
		for i, v := range x[p*n+from : (p+1)*n] {
			d := widened(v) - shift[from+i]
			sum[from+i] += d
			squares[from+i] += float32(d * d)
		}
	}
}

// noBlocks is an argument of gradientTotals if no assembly sums whole blocks.
func noBlocks([]float32) int { return 0 }

// GradientSumsHalf sets s1 and s2, per channel, to the sums of dy and dy*(x - mean).
func (s *Set) GradientSumsHalf(s1, s2, mean []float64, x, dy []uint16, r *SumWorkspace) {
	gradientTotals(s1, s2, mean, len(x), r, noBlocks, func(p1, p2, shift []float32, from, to int) {
		s.addGradientSumsHalf(p1, p2, shift, x[from:to], dy[from:to])
	})
	widenGradientSums(s1, s2, mean, x, dy)
}

func (s *Set) addGradientSumsHalf(s1, s2, shift []float32, x, dy []uint16) {
	n := len(s1)
	s2, shift, dy = s2[:n], shift[:n], dy[:len(x)]
	from, left := eachColumns(s.sumHalves, n, len(x), func(k *sumColumns[uint16], c, at, count int) {
		k.gradientSums(&s1[c], &s2[c], &shift[c], &x[at], &dy[at], n, count)
	})
	for p := range left {
		for i := from; i < n; i++ {
			g := widened(dy[p*n+i])
			s1[i] += g
			s2[i] += float32(g * (widened(x[p*n+i]) - shift[i]))
		}
	}
}

// HalfMask is a Mask with rows of bfloat16.
type HalfMask struct {
	Y    []uint16
	Plus []uint16 // values that are added to the gradient first, with rounding; may be nil
	Most float32
}

// last returns the bits of the largest bfloat16 for which the mask passes a gradient. The bits of values
// above 0 are in the order of the values, followed by NaN.
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

// slice returns the mask of values [from, to).
func (m HalfMask) slice(from, to int) HalfMask {
	m.Y = m.Y[from:to]
	if m.Plus != nil {
		m.Plus = m.Plus[from:to]
	}
	return m
}

// MaskedSumsHalf applies a mask to dy, stores the result in dx, and sums dx like GradientSumsHalf.
// Without m.Plus nothing is rounded: dx is dy, bit for bit, or 0.
func (s *Set) MaskedSumsHalf(s1, s2, mean []float64, x, dx, dy []uint16, m HalfMask, r *SumWorkspace) {
	gradientTotals(s1, s2, mean, len(x), r, noBlocks, func(p1, p2, shift []float32, from, to int) {
		s.addMaskedSumsHalf(p1, p2, shift, x[from:to], dx[from:to], dy[from:to], m.slice(from, to))
	})
	widenGradientSums(s1, s2, mean, x, dx)
}

func (s *Set) addMaskedSumsHalf(s1, s2, shift []float32, x, dx, dy []uint16, m HalfMask) {
	n := len(s1)
	s2, shift, dx, dy, m.Y = s2[:n], shift[:n], dx[:len(x)], dy[:len(x)], m.Y[:len(x)]
	last := m.last()
	from, left := eachColumns(s.sumHalves, n, len(x), func(k *sumColumns[uint16], c, at, count int) {
		if m.Plus == nil {
			k.maskedSums(&s1[c], &s2[c], &shift[c], &x[at], &dx[at], &dy[at], &m.Y[at], last, n, count)
			return
		}
		k.maskedSumsPlus(&s1[c], &s2[c], &shift[c], &x[at], &dx[at], &dy[at], &m.Y[at], &m.Plus[:len(x)][at],
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
			s1[i] += widened(g)
			s2[i] += float32(widened(g) * (widened(x[at]) - shift[i]))
		}
	}
}
