package kernel

import "github.com/bnctl/bnctl/device/class"

// The functions below walk over positions with C channels each, laid out [positions][C]; C is the length
// of their per-channel slices. They round every operation, so that all sets have the same bits. Functions
// with Half in their names do the same over rows of bfloat16: see channels_half.go.

// extent describes which channels assembly can process. It is assembly for a walk over neighbouring columns
// of channels, and keeps values per channel in registers. Assembly with minChannels loads and stores these
// values at every position instead, so that it can process any number of columns.
type extent struct {
	lanes       int // number of channels that it processes; with minChannels, any multiple of this number
	minChannels int // if not 0: the least number of channels to use the assembly for
	// masked assembly processes the channels after the last multiple of lanes. If half a vector of channels is
	// left, narrower assembly processes it instead.
	masked bool
}

// normColumns is the assembly for walks that normalise rows of T.
type normColumns[T float32 | uint16] struct {
	extent
	normalise         func(hi, lo, by, add *float32, y, x *T, least, most float32, channels, count int)
	normalisePlus     func(hi, lo, by, add *float32, y, x, plus *T, least, most float32, channels, count int)
	normaliseGradient func(hi, lo, by, add, slope *float32, dx, x, dy *T, channels, count int)
}

// cachedValues is the number of values of a row that all columns process before the next values. So the row
// is read from memory in order, and for other columns from the cache.
const cachedValues = 4096

// treats returns the number of channels of [from, last), in rows of n channels, that the assembly can
// process. Assembly for any number of columns (minChannels) always processes all whole vectors of a row,
// and masked assembly always the channels after these. So they accept a range only if it ends with the row
// and begins where they begin.
func (e extent) treats(from, last, n int) int {
	channels := last - from
	switch {
	case e.masked:
		if last == n && from%e.lanes == 0 && channels < e.lanes && 2*channels != e.lanes {
			return channels
		}
	case e.minChannels > 0:
		if from == 0 && last == n && n >= max(e.lanes, e.minChannels) {
			return n / e.lanes * e.lanes
		}
	case channels >= e.lanes:
		return e.lanes
	}
	return 0
}

// columnKernel is assembly for neighbouring columns of channels.
type columnKernel interface{ treats(from, last, n int) int }

// eachColumns calls do with assembly for columns of a row with n channels and the given number of values,
// as long as there is assembly for the remaining channels. A call processes count positions of the column
// that begins with channel c; at is the index of channel c of the first position. It returns the first
// remaining channel and the number of positions.
func eachColumns[K columnKernel](kernels []K, n, values int,
	do func(k K, c, at, count int)) (from, left int) {
	return someColumns(kernels, 0, n, n, values, do)
}

// someColumns does the same as eachColumns for channels [first, last).
func someColumns[K columnKernel](kernels []K, first, last, n, values int,
	do func(k K, c, at, count int)) (from, left int) {
	if values == 0 || first == last {
		return first, 0
	}
	positions := values / n
	some := max(1, cachedValues/n)
	if _, treated := widest(kernels, first, last, n); treated == n {
		some = positions
	}
	for p := 0; p < positions; p += some {
		from = first
		for k, treated := widest(kernels, from, last, n); treated > 0; k, treated = widest(kernels, from, last, n) {
			do(k, from, p*n+from, min(some, positions-p))
			from += treated
		}
	}
	if from < last {
		left = positions
	}
	return from, left
}

// widest returns the first assembly that can process some of the channels [from, last) of n, and how many
// of them it can process, or 0.
func widest[K columnKernel](kernels []K, from, last, n int) (k K, treated int) {
	for _, k := range kernels {
		if treated := k.treats(from, last, n); treated > 0 {
			return k, treated
		}
	}
	return k, 0
}

// Affine holds, per channel, the numbers of a normalisation: a mean as two
// terms, so that x - mean keeps its precision when the mean is large, a
// factor and a shift.
type Affine struct{ Hi, Lo, By, Add []float32 }

// NewAffine returns an Affine for the given number of channels.
func NewAffine(channels int) Affine {
	all := make([]float32, 4*channels)
	row := func(i int) []float32 { return all[i*channels : (i+1)*channels : (i+1)*channels] }
	return Affine{row(0), row(1), row(2), row(3)}
}

// Set sets the numbers of channel c, computed from a mean, a factor and a summand.
func (a *Affine) Set(c int, mean, factor, add float64) {
	a.SetOf(c, class.NewAffine(mean, factor, add))
}

// SetOf sets the numbers of channel c to the numbers in n.
func (a *Affine) SetOf(c int, n class.Affine) {
	a.Hi[c], a.Lo[c], a.By[c], a.Add[c] = n.Hi, n.Lo, n.By, n.Add
}

// parameters returns the numbers of channel c.
func (a *Affine) parameters(c int) class.Affine {
	return class.Affine{Hi: a.Hi[c], Lo: a.Lo[c], By: a.By[c], Add: a.Add[c]}
}

// Normalise sets y to ((x - hi) - lo)*by + add, per channel, with an epilogue. y
// may be x.
func (s *Set) Normalise(y, x []float32, a Affine, e Epilogue) {
	n := len(a.Hi)
	y = y[:len(x)]
	least, most := e.bounds()
	from, left := eachColumns(s.normColumns, n, len(x), func(k *normColumns[float32], c, at, count int) {
		hi, lo, by, add := &a.Hi[c], &a.Lo[c], &a.By[c], &a.Add[c]
		if e.Plus == nil {
			k.normalise(hi, lo, by, add, &y[at], &x[at], least, most, n, count)
			return
		}
		k.normalisePlus(hi, lo, by, add, &y[at], &x[at], &e.Plus[:len(x)][at], least, most, n, count)
	})
	for p := range left {
		for i := from; i < n; i++ {
			y[p*n+i] = e.applyTo(p*n+i, a.parameters(i).Normalise(x[p*n+i]))
		}
	}
}

// NormaliseGradient sets dx to by*((dy - add) - ((x - hi) - lo)*slope), per
// channel. dx may be x or dy.
func (s *Set) NormaliseGradient(dx, x, dy []float32, a Affine, slope []float32) {
	n := len(a.Hi)
	dx, dy, slope = dx[:len(x)], dy[:len(x)], slope[:n]
	from, left := eachColumns(s.normColumns, n, len(x), func(k *normColumns[float32], c, at, count int) {
		k.normaliseGradient(&a.Hi[c], &a.Lo[c], &a.By[c], &a.Add[c], &slope[c], &dx[at], &x[at], &dy[at],
			n, count)
	})
	for p := range left {
		for i := from; i < n; i++ {
			dx[p*n+i] = a.parameters(i).Gradient(x[p*n+i], dy[p*n+i], slope[i])
		}
	}
}
