package kernel

// GradientSums sets s1 and s2, per channel, to the sums of dy and dy*(x - mean).
//
// Blocks compute sums of dy*(x - k), where k is the mean rounded to float32. At the end s2 becomes s2 -
// (mean - k)*s1, in float64.
func (s *Set) GradientSums(s1, s2, mean []float64, x, dy []float32, r *SumWorkspace) {
	dy = dy[:len(x)]
	gradientTotals(s1, s2, mean, len(x), r, func(shift []float32) int {
		return s.gradientBlocks(s1, s2, shift, x, dy)
	}, func(p1, p2, shift []float32, from, to int) {
		s.addGradientSums(p1, p2, shift, x[from:to], dy[from:to])
	})
	widenGradientSums(s1, s2, mean, x, dy)
}

// gradientBlocks adds the sums of whole blocks to s1 and s2, and returns the number of
// blocks.
func (s *Set) gradientBlocks(s1, s2 []float64, shift, x, dy []float32) int {
	k, n := s.blocksOf(len(s1), len(x))
	if n > 0 {
		k.gradient(&s1[0], &s2[0], &shift[0], &x[0], &dy[0], len(s1), n)
	}
	return n
}

// nearValues is the number of values of a gradient that are computed before their sums are. They should
// still be in a near cache then.
const nearValues = 4096

// MadeSums does the same as GradientSums for a gradient that is computed by make. It calls make for a part of
// the values [from, to) at a time, so that they are summed while they are in a near cache.
func (s *Set) MadeSums(s1, s2, mean []float64, x, dy []float32, r *SumWorkspace, make func(from, to int)) {
	dy = dy[:len(x)]
	n := len(s1)
	gradientTotals(s1, s2, mean, len(x), r, func(shift []float32) (all int) {
		block := BlockPositions * n
		some := max(1, nearValues/block) * block
		for from := 0; from < len(x) && s.treatsBlocks(n); from += some {
			to := min(from+some, len(x)/block*block)
			if from >= to {
				break
			}
			make(from, to)
			all += s.gradientBlocks(s1, s2, shift, x[from:to], dy[from:to])
		}
		return all
	}, func(p1, p2, shift []float32, from, to int) {
		some := max(1, nearValues/n) * n
		for ; from < to; from += some {
			end := min(from+some, to)
			make(from, end)
			s.addGradientSums(p1, p2, shift, x[from:end], dy[from:end])
		}
	})
	widenGradientSums(s1, s2, mean, x, dy)
}

// gradientTotals computes sums by blocks. whole sums the first blocks by assembly and returns their number,
// and add sums one of the others.
func gradientTotals(s1, s2, mean []float64, values int, r *SumWorkspace, whole func(shift []float32) int,
	add func(p1, p2, shift []float32, from, to int)) {
	p1, p2, shift := r.singles(len(s1))
	for c := range shift {
		shift[c] = float32(mean[c])
	}
	clear(s1)
	clear(s2)
	eachBlock(whole(shift), len(s1), values, func(from, to int) {
		clear(p1)
		clear(p2)
		add(p1, p2, shift, from, to)
		widenInto(s1, p1)
		widenInto(s2, p2)
	})
	for c, k := range shift {
		s2[c] -= float64((mean[c] - float64(k)) * s1[c])
	}
}

// addGradientSums adds dy to s1 and dy*(x - shift) to s2, per channel, in order.
func (s *Set) addGradientSums(s1, s2, shift, x, dy []float32) {
	n := len(s1)
	s2, shift, dy = s2[:n], shift[:n], dy[:len(x)]
	from, left := eachColumns(s.sumColumns, n, len(x), func(k *sumColumns[float32], c, at, count int) {
		k.gradientSums(&s1[c], &s2[c], &shift[c], &x[at], &dy[at], n, count)
	})
	for p := range left {
		for i := from; i < n; i++ {
			g := dy[p*n+i]
			s1[i] += g
			s2[i] += float32(g * (x[p*n+i] - shift[i]))
		}
	}
}

// Mask selects the elements at which the gradient of a relu or a relu6 is not 0: the result Y of the
// activation is above 0 and below Most. Most is NaN for a relu.
type Mask struct {
	Y    []float32
	Plus []float32 // values that are added to the gradient first; may be nil
	Most float32
}

// slice returns the mask of values [from, to).
func (m Mask) slice(from, to int) Mask {
	m.Y = m.Y[from:to]
	if m.Plus != nil {
		m.Plus = m.Plus[from:to]
	}
	return m
}

// MaskedSums sets dx to the elements of dy that mask m selects, and computes GradientSums of dx.
func (s *Set) MaskedSums(s1, s2, mean []float64, x, dx, dy []float32, m Mask, r *SumWorkspace) {
	gradientTotals(s1, s2, mean, len(x), r, func(shift []float32) int {
		return s.maskedBlocks(s1, s2, shift, x, dx, dy, m)
	}, func(p1, p2, shift []float32, from, to int) {
		s.addMaskedSums(p1, p2, shift, x[from:to], dx[from:to], dy[from:to], m.slice(from, to))
	})
	widenGradientSums(s1, s2, mean, x, dx)
}

// maskedBlocks does the same as addMaskedSums for whole blocks. It adds their sums to s1 and s2, and
// returns the number of blocks.
func (s *Set) maskedBlocks(s1, s2 []float64, shift, x, dx, dy []float32, m Mask) int {
	k, n := s.blocksOf(len(s1), len(x))
	if n == 0 {
		return 0
	}
	dx, dy, m = dx[:len(x)], dy[:len(x)], m.slice(0, len(x))
	if m.Plus == nil {
		k.masked(&s1[0], &s2[0], &shift[0], &x[0], &dx[0], &dy[0], &m.Y[0], m.Most, len(s1), n)
	} else {
		k.maskedPlus(&s1[0], &s2[0], &shift[0], &x[0], &dx[0], &dy[0], &m.Y[0], &m.Plus[0], m.Most, len(s1), n)
	}
	return n
}

// addMaskedSums sets dx to dy with a mask. It adds dx to s1 and dx*(x - shift) to s2, per channel, in
// order.
func (s *Set) addMaskedSums(s1, s2, shift, x, dx, dy []float32, m Mask) {
	n := len(s1)
	s2, shift, dx, dy, m.Y = s2[:n], shift[:n], dx[:len(x)], dy[:len(x)], m.Y[:len(x)]
	from, left := eachColumns(s.sumColumns, n, len(x), func(k *sumColumns[float32], c, at, count int) {
		if m.Plus == nil {
			k.maskedSums(&s1[c], &s2[c], &shift[c], &x[at], &dx[at], &dy[at], &m.Y[at], m.Most, n, count)
			return
		}
		k.maskedSumsPlus(&s1[c], &s2[c], &shift[c], &x[at], &dx[at], &dy[at], &m.Y[at], &m.Plus[:len(x)][at],
			m.Most, n, count)
	})
	for p := range left {
		for i := from; i < n; i++ {
			at := p*n + i
			g := dy[at]
			if m.Plus != nil {
				g += m.Plus[at]
			}
			if !(m.Y[at] > 0) || m.Y[at] >= m.Most {
				g = 0
			}
			dx[at] = g
			s1[i] += g
			s2[i] += float32(g * (x[at] - shift[i]))
		}
	}
}
