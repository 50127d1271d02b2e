package ref

import (
	"math"

	"github.com/bnctl/bnctl/graph"
)

// normalise computes y = gamma*(x-mean)*s + beta, with the moments of the batch or of
// the row's replica.
func normalise(c *call) {
	x, gamma, beta, y := c.in(0), c.in(2).block(0), c.in(3).block(0), c.out(0)
	eps := c.Float("eps")
	for n := range y.lead {
		m := stats(c.block(c.in(1), graph.Rows, n))
		eachChannel(y, n, func(ch, i int) {
			d := x.block(n)[i] - m.mean(ch)
			y.block(n)[i] = float64(gamma[ch]*d*m.inverse(ch, eps)) + beta[ch]
		})
	}
}

// eachChannel visits the elements i of block n of a, which has shape (C, ...).
func eachChannel(a *array, n int, visit func(ch, i int)) {
	plane := a.size / a.typ.Shape[0]
	for i := range a.block(n) {
		visit(i/plane, i)
	}
}

// normaliseGradSums computes S1 = sum dy and S2 = sum dy*(x-mean) of each replica.
func normaliseGradSums(c *call) {
	x, dy, sums := c.in(0), c.in(1), c.out(0)
	channels := x.typ.Shape[0]
	for n := range x.lead {
		m, s := stats(c.block(c.in(2), graph.Rows, n)), c.block(sums, graph.Rows, n)
		eachChannel(x, n, func(ch, i int) {
			g := dy.block(n)[i]
			s[ch] += g
			s[channels+ch] += float64(g * (x.block(n)[i] - m.mean(ch)))
		})
	}
}

// normaliseGradInput computes dx = gamma*s*(dy - S1/n - (x-mean)*s*s*S2/n), or dx = gamma*s*dy if the
// statistics are constant.
func normaliseGradInput(c *call) {
	x, dy, gamma, dx := c.in(0), c.in(1), c.in(4).block(0), c.out(0)
	channels, eps := x.typ.Shape[0], c.Float("eps")
	for n := range x.lead {
		m, sums := stats(c.block(c.in(2), graph.Rows, n)), c.block(c.in(3), graph.Rows, n)
		eachChannel(x, n, func(ch, i int) {
			s, g := m.inverse(ch, eps), dy.block(n)[i]
			if !m.constant() {
				d := x.block(n)[i] - m.mean(ch)
				g -= sums[ch]/m.count() + d*s*s*sums[channels+ch]/m.count()
			}
			dx.block(n)[i] = gamma[ch] * s * g
		})
	}
}

// normaliseGradParams computes dgamma = s*S2 and dbeta = S1.
func normaliseGradParams(c *call) {
	sums, dgamma, dbeta := c.in(1), c.out(0), c.out(1)
	eps := c.Float("eps")
	for r := range sums.lead {
		m, s := stats(c.block(c.in(0), sums.typ.Kind, r)), sums.block(r)
		for ch := range m.channels() {
			dgamma.block(r)[ch] = m.inverse(ch, eps) * s[m.channels()+ch]
			dbeta.block(r)[ch] = s[ch]
		}
	}
}

// batchNorm computes y = gamma*(x-mean)/sqrt(variance + eps) + beta.
func batchNorm(c *call) {
	x, gamma, beta, y := c.in(0), c.in(1).block(0), c.in(2).block(0), c.out(0)
	mean, variance := c.in(3).block(0), c.in(4).block(0)
	eps := c.Float("eps")
	for n := range y.lead {
		eachChannel(y, n, func(ch, i int) {
			s := 1 / math.Sqrt(variance[ch]+eps)
			y.block(n)[i] = float64(gamma[ch]*(x.block(n)[i]-mean[ch])*s) + beta[ch]
		})
	}
}
