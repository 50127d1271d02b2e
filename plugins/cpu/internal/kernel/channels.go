package kernel

import "math"

// The functions below walk over positions with C channels each, laid out
// [positions][C]; C is the length of their per-channel slices. They round
// every operation, so that all sets give the same bits. What ends in Half is
// the same over rows of bfloat16: see channels_half.go.

// columns is the assembly for walks over neighbouring columns of channels, in
// rows of T. It keeps what is per channel in registers; a wide one reads and
// writes that at every position, and so treats any number of columns.
type columns[T float32 | uint16] struct {
	lanes        int // channels that it treats, of a wide one any multiple of them
	wide         int // of a wide one: from how many channels on it is to be taken
	sums         func(sum *float64, x *T, channels, count int)
	sizes        func(size, most *float32, x *T, channels, count int)
	deviations   func(q, mean *float64, x *T, channels, count int)
	gradientSums func(s1, s2, mean *float64, x, dy *T, channels, count int)
	maskedSums   func(s1, s2, mean *float64, x, dx, dy, y *T, most T, channels, count int)

	maskedSumsPlus    func(s1, s2, mean *float64, x, dx, dy, y, plus *T, most T, channels, count int)
	normalise         func(hi, lo, by, add *float32, y, x *T, least, most float32, channels, count int)
	normalisePlus     func(hi, lo, by, add *float32, y, x, plus *T, least, most float32, channels, count int)
	normaliseGradient func(hi, lo, by, add, slope *float32, dx, x, dy *T, channels, count int)
}

// nearby is how many values of a row are walked over column by column before
// the next ones are, so that memory is read as it lies.
const nearby = 4096

// treats returns how many of so many channels the assembly treats.
func (k *columns[T]) treats(channels int) int {
	switch {
	case channels < max(k.lanes, k.wide):
		return 0
	case k.wide > 0:
		return channels / k.lanes * k.lanes
	}
	return k.lanes
}

// eachColumns calls do with the assembly for as many of n channels as there is
// some for, in a row of so many values: for count positions from the element
// at on, which is channel c of the first. What it leaves are the channels from
// some on, in so many positions.
func eachColumns[T float32 | uint16](kernels []*columns[T], n, values int,
	do func(k *columns[T], c, at, count int)) (from, left int) {
	if values == 0 || n == 0 {
		return 0, 0
	}
	positions := values / n
	some := max(1, nearby/n)
	if k, treated := widest(kernels, n); k != nil && treated == n {
		some = positions
	}
	for p := 0; p < positions; p += some {
		from = 0
		for k, treated := widest(kernels, n); k != nil; k, treated = widest(kernels, n-from) {
			do(k, from, p*n+from, min(some, positions-p))
			from += treated
		}
	}
	if from < n {
		left = positions
	}
	return from, left
}

// widest returns the first assembly that treats some of so many channels, and
// how many; nil if there is none.
func widest[T float32 | uint16](kernels []*columns[T], channels int) (k *columns[T], treated int) {
	for _, k := range kernels {
		if n := k.treats(channels); n > 0 {
			return k, n
		}
	}
	return nil, 0
}

// Sums adds to sum, per channel, the values of x in float64, in order.
func (s *Set) Sums(sum []float64, x []float32) {
	n := len(sum)
	from, left := eachColumns(s.columns, n, len(x), func(k *columns[float32], c, at, count int) {
		k.sums(&sum[c], &x[at], n, count)
	})
	for p := range left {
		for i, v := range x[p*n+from : (p+1)*n] {
			sum[from+i] += float64(v)
		}
	}
}

// Sizes adds to size, per channel, the absolute values of x, in order, and
// raises most to the largest of them, above which is NaN.
func (s *Set) Sizes(size, most, x []float32) {
	n := len(size)
	most = most[:n]
	from, left := eachColumns(s.columns, n, len(x), func(k *columns[float32], c, at, count int) {
		k.sizes(&size[c], &most[c], &x[at], n, count)
	})
	for p := range left {
		for i, v := range x[p*n+from : (p+1)*n] {
			bits := math.Float32bits(v) &^ (1 << 31)
			size[from+i] += math.Float32frombits(bits)
			most[from+i] = math.Float32frombits(max(math.Float32bits(most[from+i]), bits))
		}
	}
}

// Deviations adds to q, per channel, the squares of x - mean in float64, in order.
func (s *Set) Deviations(q, mean []float64, x []float32) {
	n := len(q)
	mean = mean[:n]
	from, left := eachColumns(s.columns, n, len(x), func(k *columns[float32], c, at, count int) {
		k.deviations(&q[c], &mean[c], &x[at], n, count)
	})
	for p := range left {
		for i, v := range x[p*n+from : (p+1)*n] {
			d := float64(v) - mean[from+i]
			q[from+i] += float64(d * d)
		}
	}
}

// GradientSums adds to s1 and s2, per channel, dy and dy*(x - mean) in
// float64, in order.
func (s *Set) GradientSums(s1, s2, mean []float64, x, dy []float32) {
	n := len(s1)
	s2, mean, dy = s2[:n], mean[:n], dy[:len(x)]
	from, left := eachColumns(s.columns, n, len(x), func(k *columns[float32], c, at, count int) {
		k.gradientSums(&s1[c], &s2[c], &mean[c], &x[at], &dy[at], n, count)
	})
	for p := range left {
		for i := from; i < n; i++ {
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
	n := len(s1)
	s2, mean, dx, dy, m.Y = s2[:n], mean[:n], dx[:len(x)], dy[:len(x)], m.Y[:len(x)]
	from, left := eachColumns(s.columns, n, len(x), func(k *columns[float32], c, at, count int) {
		if m.Plus == nil {
			k.maskedSums(&s1[c], &s2[c], &mean[c], &x[at], &dx[at], &dy[at], &m.Y[at], m.Most, n, count)
			return
		}
		k.maskedSumsPlus(&s1[c], &s2[c], &mean[c], &x[at], &dx[at], &dy[at], &m.Y[at], &m.Plus[:len(x)][at],
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

// at returns the normalised v of channel c.
func (a *Affine) at(c int, v float32) float32 {
	return float32(((v-a.Hi[c])-a.Lo[c])*a.By[c]) + a.Add[c]
}

// gradient returns the gradient for v of channel c, whose result has the gradient dy.
func (a *Affine) gradient(c int, v, dy, slope float32) float32 {
	d := float32(((v - a.Hi[c]) - a.Lo[c]) * slope)
	return float32(a.By[c] * ((dy - a.Add[c]) - d))
}

// Normalise sets y to ((x - hi) - lo)*by + add, per channel, with an ending. y
// may be x.
func (s *Set) Normalise(y, x []float32, a Affine, e Ending) {
	n := len(a.Hi)
	y = y[:len(x)]
	least, most := e.bounds()
	from, left := eachColumns(s.columns, n, len(x), func(k *columns[float32], c, at, count int) {
		hi, lo, by, add := &a.Hi[c], &a.Lo[c], &a.By[c], &a.Add[c]
		if e.Plus == nil {
			k.normalise(hi, lo, by, add, &y[at], &x[at], least, most, n, count)
			return
		}
		k.normalisePlus(hi, lo, by, add, &y[at], &x[at], &e.Plus[:len(x)][at], least, most, n, count)
	})
	for p := range left {
		for i := from; i < n; i++ {
			y[p*n+i] = e.at(p*n+i, a.at(i, x[p*n+i]))
		}
	}
}

// NormaliseGradient sets dx to by*((dy - add) - ((x - hi) - lo)*slope), per
// channel. dx may be x or dy.
func (s *Set) NormaliseGradient(dx, x, dy []float32, a Affine, slope []float32) {
	n := len(a.Hi)
	dx, dy, slope = dx[:len(x)], dy[:len(x)], slope[:n]
	from, left := eachColumns(s.columns, n, len(x), func(k *columns[float32], c, at, count int) {
		k.normaliseGradient(&a.Hi[c], &a.Lo[c], &a.By[c], &a.Add[c], &slope[c], &dx[at], &x[at], &dy[at],
			n, count)
	})
	for p := range left {
		for i := from; i < n; i++ {
			dx[p*n+i] = a.gradient(i, x[p*n+i], dy[p*n+i], slope[i])
		}
	}
}
