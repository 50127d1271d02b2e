package class

import "github.com/bnctl/bnctl/device/collective"

// A sum over the positions of a channel is computed in parts. The rows of a replica are cut
// into units of max(1, 64/positions) rows, units into spans of at most 4096 positions, and
// spans into blocks of 64. A block is summed in float32: one chain from +0 in order, every
// operation rounded. The blocks of a span are added in order in float64. Spans are added
// along the tree, and so are units.
const (
	BlockPositions = 64
	SpanPositions  = 4096
)

// Channel gives access to the values of one channel, in a replica or in one row: position p of row r is
// value number r*positions + p.
type Channel struct {
	Rows, Positions int
	At              func(i int) float32
}

// overSpans adds the results of all spans of a unit along its tree, and then adds the units along their
// tree. ok is false if the channel has no values.
func overSpans[T any](c Channel, span func(from, to int) T, add func(a, b T) T) (sum T, ok bool) {
	rows := max(1, BlockPositions/max(c.Positions, 1))
	if c.Rows*c.Positions == 0 {
		return sum, false
	}
	return alongTree(ceil(c.Rows, rows), func(u int) T {
		first, last := u*rows*c.Positions, min((u+1)*rows, c.Rows)*c.Positions
		return alongTree(ceil(last-first, SpanPositions), func(s int) T {
			from := first + s*SpanPositions
			return span(from, min(from+SpanPositions, last))
		}, add)
	}, add), true
}

// blocks calls do for every block of a span.
func blocks(from, to int, do func(from, to int)) {
	for ; from < to; from += BlockPositions {
		do(from, min(from+BlockPositions, to))
	}
}

// chain returns the float32 sum of element(from) to element(to-1), in order.
func chain(from, to int, element func(i int) float32) float32 {
	sum := float32(0)
	for i := from; i < to; i++ {
		sum += element(i)
	}
	return sum
}

// Sum returns the sum of the values.
func (c Channel) Sum() float64 {
	sum, _ := overSpans(c, func(from, to int) float64 {
		sum := 0.0
		blocks(from, to, func(from, to int) { sum += float64(chain(from, to, c.At)) })
		return finiteOr(sum, func() float64 { return wideChain(from, to, c.value64) })
	}, func(a, b float64) float64 { return a + b })
	return sum
}

// Moments returns the number of values, their mean, and the sum of their squared
// deviations from it.
func (c Channel) Moments() [3]float64 {
	m, _ := overSpans(c, c.spanMoments, func(a, b [3]float64) [3]float64 {
		collective.Merge(a[:], a[:], b[:])
		return a
	})
	return m
}

// spanMoments returns the moments of a span. In a block, deviations are taken from the block's
// mean, rounded to float32. The sums over the blocks correct for this.
func (c Channel) spanMoments(from, to int) [3]float64 {
	a, b, k0 := 0.0, 0.0, 0.0
	first := from
	blocks(from, to, func(from, to int) {
		n := float64(to - from)
		k := float32(chain(from, to, c.At) * float32(1/n))
		if from == first {
			k0 = float64(k)
		}
		s := chain(from, to, func(i int) float32 { return c.At(i) - k })
		p := chain(from, to, func(i int) float32 {
			d := c.At(i) - k
			return float32(d * d)
		})
		u := float64(s) / n
		e := (float64(k) - k0) + u
		t := float64(n * e)
		a += t
		b += (float64(p) - float64(float64(s)*u)) + float64(t*e)
	})
	n := float64(to - from)
	u := a / n
	mean, q := k0+u, max(0, b-float64(a*u))
	mean64 := func() float64 { return wideChain(first, to, c.value64) / n }
	return [3]float64{n, finiteOr(mean, mean64), finiteOr(q, func() float64 {
		centre := mean64()
		return wideChain(first, to, func(i int) float64 {
			d := c.value64(i) - centre
			return float64(d * d)
		})
	})}
}

// GradientSums returns the sums of dy and of dy*(x - mean), where x are the values of the channel.
func (c Channel) GradientSums(dy func(i int) float32, mean float64) [2]float64 {
	k := float32(mean)
	sums, _ := overSpans(c, func(from, to int) [2]float64 {
		var s [2]float64
		blocks(from, to, func(from, to int) {
			s[0] += float64(chain(from, to, dy))
			s[1] += float64(chain(from, to, func(i int) float32 { return float32(dy(i) * (c.At(i) - k)) }))
		})
		s[1] -= float64((mean - float64(k)) * s[0])
		return [2]float64{
			finiteOr(s[0], func() float64 {
				return wideChain(from, to, func(i int) float64 { return float64(dy(i)) })
			}),
			finiteOr(s[1], func() float64 {
				return wideChain(from, to, func(i int) float64 {
					return float64(float64(dy(i)) * (c.value64(i) - mean))
				})
			}),
		}
	}, func(a, b [2]float64) [2]float64 { return [2]float64{a[0] + b[0], a[1] + b[1]} })
	return sums
}
