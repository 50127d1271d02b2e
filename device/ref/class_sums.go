package ref

import (
	"math"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// channelOf returns channel ch of the rows [from, to) of x.
func channelOf(x *array, ch, from, to int) class.Channel {
	plane := x.size / x.typ.Shape[0]
	return class.Channel{Rows: to - from, Positions: plane, At: func(i int) float32 {
		return float32(x.block(from + i/plane)[ch*plane+i%plane])
	}}
}

// defineMoments computes, for each replica and channel, the moments.
func defineMoments(c *call) {
	x, y := c.in(0), c.out(0)
	channels := x.typ.Shape[0]
	for r := range c.replicas() {
		m := y.block(r)
		for ch := range channels {
			one := channelOf(x, ch, c.first[r], c.first[r+1]).Moments()
			m[0], m[1+ch], m[1+channels+ch] = one[0], one[1], one[2]
		}
	}
}

// defineChannelSum computes, for each replica and channel, the sum.
func defineChannelSum(c *call) {
	x, y := c.in(0), c.out(0)
	for r := range c.replicas() {
		for ch := range y.block(r) {
			y.block(r)[ch] = channelOf(x, ch, c.first[r], c.first[r+1]).Sum()
		}
	}
}

// defineGlobalAvgPool computes, for each row and channel, the mean.
func defineGlobalAvgPool(c *call) {
	x, y := c.in(0), c.out(0)
	for n := range x.lead {
		for ch := range y.block(n) {
			y.block(n)[ch] = channelOf(x, ch, n, n+1).Sum() / float64(x.size/y.size)
		}
	}
}

// defineNormaliseGradSums computes, for each replica and channel, both sums.
func defineNormaliseGradSums(c *call) {
	x, dy, sums := c.in(0), c.in(1), c.out(0)
	channels := x.typ.Shape[0]
	for r := range c.replicas() {
		m := stats(c.in(2).block(0))
		if c.in(2).typ.Kind == graph.Replica {
			m = stats(c.in(2).block(r))
		}
		for ch := range channels {
			from, to := c.first[r], c.first[r+1]
			s := channelOf(x, ch, from, to).GradientSums(channelOf(dy, ch, from, to).At, m.mean(ch))
			sums.block(r)[ch], sums.block(r)[channels+ch] = s[0], s[1]
		}
	}
}

// eachAffine sets every element i of block n of y to of(a, n, i), where a has the parameters of the
// element's channel. affine returns the parameters for block n and channel ch.
func (c *call) eachAffine(y *array, affine func(n, ch int) class.Affine,
	of func(a class.Affine, n, i int) float32) {
	for n := range y.lead {
		channels := y.typ.Shape[0]
		all := make([]class.Affine, channels)
		for ch := range all {
			all[ch] = affine(n, ch)
		}
		eachChannel(y, n, func(ch, i int) { y.block(n)[i] = float64(of(all[ch], n, i)) })
	}
}

// defineNormalise normalises with the moments of the batch or of the row's replica.
func defineNormalise(c *call) {
	x, gamma, beta, eps := c.in(0), c.in(2).block(0), c.in(3).block(0), c.Float("eps")
	c.eachAffine(c.out(0), func(n, ch int) class.Affine {
		m := stats(c.block(c.in(1), graph.Rows, n))
		return class.NewAffine(m.mean(ch), gamma[ch]*m.inverse(ch, eps), beta[ch])
	}, func(a class.Affine, n, i int) float32 { return a.Normalise(float32(x.block(n)[i])) })
}

// defineBatchNorm normalises with given statistics.
func defineBatchNorm(c *call) {
	x, gamma, beta := c.in(0), c.in(1).block(0), c.in(2).block(0)
	mean, variance, eps := c.in(3).block(0), c.in(4).block(0), c.Float("eps")
	c.eachAffine(c.out(0), func(_, ch int) class.Affine {
		s := 1 / math.Sqrt(variance[ch]+eps)
		return class.NewAffine(mean[ch], gamma[ch]*s, beta[ch])
	}, func(a class.Affine, n, i int) float32 { return a.Normalise(float32(x.block(n)[i])) })
}

// defineNormaliseGradInput computes gamma*s*((dy - S1/n) - (x-mean)*(s*s*S2/n)). If the statistics are
// constant, S1/n and s*s*S2/n are replaced by 0.
func defineNormaliseGradInput(c *call) {
	x, dy, gamma, eps := c.in(0), c.in(1), c.in(4).block(0), c.Float("eps")
	channels := x.typ.Shape[0]
	numbers := func(n, ch int) (a class.Affine, slope float32) {
		m, sums := stats(c.block(c.in(2), graph.Rows, n)), c.block(c.in(3), graph.Rows, n)
		s, shift, by := m.inverse(ch, eps), 0.0, 0.0
		if m.count() > 0 {
			shift, by = sums[ch]/m.count(), s*s*sums[channels+ch]/m.count()
		}
		return class.NewAffine(m.mean(ch), gamma[ch]*s, shift), float32(by)
	}
	slopes := make([]float32, channels)
	c.eachAffine(c.out(0), func(n, ch int) (a class.Affine) {
		a, slopes[ch] = numbers(n, ch)
		return a
	}, func(a class.Affine, n, i int) float32 {
		return a.Gradient(float32(x.block(n)[i]), float32(dy.block(n)[i]), slopes[i/(x.size/channels)])
	})
}
