package kernel

import "math"

// The functions below walk over positions with C channels each, laid out
// [positions][C]; C is the length of their per-channel slices. They round
// every operation, so that all sets give the same bits.

// columns is the assembly for walks over a column of so many channels.
type columns struct {
	lanes        int
	sums         func(sum *float64, x *float32, step int, count int)
	sizes        func(size *float32, most *float32, x *float32, step int, count int)
	deviations   func(q *float64, mean *float64, x *float32, step int, count int)
	gradientSums func(s1 *float64, s2 *float64, mean *float64, x *float32, dy *float32, step int, count int)
	maskedSums   func(s1 *float64, s2 *float64, mean *float64, most, x, dx, dy, y *float32, step int,
		count int)
	maskedSumsPlus func(s1 *float64, s2 *float64, mean *float64, most, x, dx, dy, y, plus *float32, step int,
		count int)
	normalise         func(hi, lo, by, add, y, x *float32, bytes, skip, count int)
	normaliseRelu     func(hi, lo, by, add, y, x, most *float32, bytes, skip, count int)
	normalisePlus     func(hi, lo, by, add, y, x, plus *float32, bytes, skip, count int)
	normalisePlusRelu func(hi, lo, by, add, y, x, plus, most *float32, bytes, skip, count int)
	normaliseGradient func(hi, lo, by, add, slope, dx, x, dy *float32, step, count int)
}

// column returns the widest assembly for a column of at most so many channels, nil if there is none.
func (s *Set) column(channels int) *columns {
	for _, k := range s.columns {
		if k.lanes <= channels {
			return k
		}
	}
	return nil
}

// Sums adds to sum, per channel, the values of x in float64, in order.
func (s *Set) Sums(sum []float64, x []float32) {
	n, count := len(sum), positions(len(sum), x)
	c := 0
	for k := s.column(n); k != nil && count > 0; k = s.column(n - c) {
		k.sums(&sum[c], &x[c], 4*n, count)
		c += k.lanes
	}
	for p := range count {
		for i, v := range x[p*n+c : (p+1)*n] {
			sum[c+i] += float64(v)
		}
	}
}

// Sizes adds to size, per channel, the absolute values of x, in order, and
// raises most to the largest of them, above which is NaN.
func (s *Set) Sizes(size, most, x []float32) {
	n, count := len(size), positions(len(size), x)
	most = most[:n]
	c := 0
	for k := s.column(n); k != nil && count > 0; k = s.column(n - c) {
		k.sizes(&size[c], &most[c], &x[c], 4*n, count)
		c += k.lanes
	}
	for p := range count {
		for i, v := range x[p*n+c : (p+1)*n] {
			bits := math.Float32bits(v) &^ (1 << 31)
			size[c+i] += math.Float32frombits(bits)
			most[c+i] = math.Float32frombits(max(math.Float32bits(most[c+i]), bits))
		}
	}
}

// positions returns how many positions of n channels x has.
func positions(n int, x []float32) int {
	if n == 0 {
		return 0
	}
	return len(x) / n
}

// Deviations adds to q, per channel, the squares of x - mean in float64, in order.
func (s *Set) Deviations(q, mean []float64, x []float32) {
	n, count := len(q), positions(len(q), x)
	mean = mean[:n]
	c := 0
	for k := s.column(n); k != nil && count > 0; k = s.column(n - c) {
		k.deviations(&q[c], &mean[c], &x[c], 4*n, count)
		c += k.lanes
	}
	for p := range count {
		for i, v := range x[p*n+c : (p+1)*n] {
			d := float64(v) - mean[c+i]
			q[c+i] += float64(d * d)
		}
	}
}

// GradientSums adds to s1 and s2, per channel, dy and dy*(x - mean) in
// float64, in order.
func (s *Set) GradientSums(s1, s2, mean []float64, x, dy []float32) {
	n, count := len(s1), positions(len(s1), x)
	s2, mean, dy = s2[:n], mean[:n], dy[:len(x)]
	c := 0
	for k := s.column(n); k != nil && count > 0; k = s.column(n - c) {
		k.gradientSums(&s1[c], &s2[c], &mean[c], &x[c], &dy[c], 4*n, count)
		c += k.lanes
	}
	for p := range count {
		for i := c; i < n; i++ {
			g := float64(dy[p*n+i])
			s1[i] += g
			s2[i] += float64(g * (float64(x[p*n+i]) - mean[i]))
		}
	}
}

// Mask says where the gradient of a relu or a relu6 is not 0: where the result
// Y of the activation is above 0, and not Most or above; Most is NaN for a relu.
type Mask struct {
	Y    []float32
	Plus []float32 // added to the gradient before, unless nil
	Most float32
}

// MaskedSums sets dx to dy with a mask and does what GradientSums does with it.
func (s *Set) MaskedSums(s1, s2, mean []float64, x, dx, dy []float32, m Mask) {
	n, count := len(s1), positions(len(s1), x)
	s2, mean, dx, dy, m.Y = s2[:n], mean[:n], dx[:len(x)], dy[:len(x)], m.Y[:len(x)]
	c, most := 0, address(m.Most)
	for k := s.column(n); k != nil && count > 0; k = s.column(n - c) {
		if m.Plus == nil {
			k.maskedSums(&s1[c], &s2[c], &mean[c], most, &x[c], &dx[c], &dy[c], &m.Y[c], 4*n, count)
		} else {
			k.maskedSumsPlus(&s1[c], &s2[c], &mean[c], most, &x[c], &dx[c], &dy[c], &m.Y[c], &m.Plus[:len(x)][c],
				4*n, count)
		}
		c += k.lanes
	}
	for p := range count {
		for i := c; i < n; i++ {
			at := p*n + i
			g := dy[at]
			if m.Plus != nil {
				g += m.Plus[at]
			}
			if !(m.Y[at] > 0) || m.Y[at] >= m.Most {
				g = 0
			}
			dx[at] = g
			s1[i] += float64(g)
			s2[i] += float64(float64(g) * (float64(x[at]) - mean[i]))
		}
	}
}

// Affine holds, per channel, the numbers of a normalisation: a mean in two
// parts, so that x - mean keeps its precision when the mean is large, a
// factor and a shift.
type Affine struct{ Hi, Lo, By, Add []float32 }

// NewAffine returns an Affine for so many channels.
func NewAffine(channels int) Affine {
	all := make([]float32, 4*channels)
	part := func(i int) []float32 { return all[i*channels : (i+1)*channels : (i+1)*channels] }
	return Affine{part(0), part(1), part(2), part(3)}
}

// Set fills channel c.
func (a *Affine) Set(c int, mean, by, add float64) {
	a.Hi[c] = float32(mean)
	a.Lo[c] = float32(mean - float64(a.Hi[c]))
	a.By[c], a.Add[c] = float32(by), float32(add)
}

// Normalise sets y to ((x - hi) - lo)*by + add, per channel, with an ending. y
// may be x.
func (s *Set) Normalise(y, x []float32, a Affine, e Ending) {
	n, count := len(a.Hi), positions(len(a.Hi), x)
	y = y[:len(x)]
	c := 0
	for k := s.column(n); k != nil && count > 0; k = s.column(n - c) {
		run := (n - c) / k.lanes * k.lanes
		k.normaliseRun(y, x, a, &e, c, run, count)
		c += run
	}
	for p := range count {
		for i := c; i < n; i++ {
			v := float32(((x[p*n+i]-a.Hi[i])-a.Lo[i])*a.By[i]) + a.Add[i]
			y[p*n+i] = e.at(p*n+i, v)
		}
	}
}

// normaliseRun normalises the channels [c, c+run) of all positions.
func (k *columns) normaliseRun(y, x []float32, a Affine, e *Ending, c, run, count int) {
	hi, lo, by, add, bytes, skip := &a.Hi[c], &a.Lo[c], &a.By[c], &a.Add[c], 4*run, 4*(len(a.Hi)-run)
	switch {
	case e.Plus == nil && !e.Relu:
		k.normalise(hi, lo, by, add, &y[c], &x[c], bytes, skip, count)
	case e.Plus == nil:
		k.normaliseRelu(hi, lo, by, add, &y[c], &x[c], address(e.Most), bytes, skip, count)
	case !e.Relu:
		k.normalisePlus(hi, lo, by, add, &y[c], &x[c], &e.Plus[c], bytes, skip, count)
	default:
		k.normalisePlusRelu(hi, lo, by, add, &y[c], &x[c], &e.Plus[c], address(e.Most), bytes, skip, count)
	}
}

// NormaliseGradient sets dx to by*((dy - add) - ((x - hi) - lo)*slope), per
// channel. dx may be x or dy.
func (s *Set) NormaliseGradient(dx, x, dy []float32, a Affine, slope []float32) {
	n, count := len(a.Hi), positions(len(a.Hi), x)
	dx, dy, slope = dx[:len(x)], dy[:len(x)], slope[:n]
	c := 0
	for k := s.column(n); k != nil && count > 0; k = s.column(n - c) {
		k.normaliseGradient(&a.Hi[c], &a.Lo[c], &a.By[c], &a.Add[c], &slope[c], &dx[c], &x[c], &dy[c], 4*n, count)
		c += k.lanes
	}
	for p := range count {
		for i := c; i < n; i++ {
			d := float32(((x[p*n+i] - a.Hi[i]) - a.Lo[i]) * slope[i])
			dx[p*n+i] = float32(a.By[i] * ((dy[p*n+i] - a.Add[i]) - d))
		}
	}
}
