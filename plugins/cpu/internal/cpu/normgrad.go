package cpu

import "github.com/bnctl/bnctl/plugins/cpu/internal/kernel"

func buildNormaliseGradSums(c *compiler) action {
	x, dy, m, sums, kernels := c.in(0), c.in(1), c.in(2), c.out(0), c.kernels
	if mask, ok := c.masks[c.node.Out[0]]; ok {
		return c.maskedSums(mask, x, dy, m, sums)
	}
	o := blockwise{x: x, total: sums, operands: []*value{x, dy}, add: addTo[float64],
		part: func(f *frame, i int, part []float64, in [][]float32) {
			s1, s2, mean := f.gradientSums(part, m, i)
			kernels.GradientSums(s1, s2, mean, in[0], in[1])
		},
		half: func(f *frame, i int, part []float64, in [][]uint16) {
			s1, s2, mean := f.gradientSums(part, m, i)
			kernels.GradientSumsHalf(s1, s2, mean, in[0], in[1])
		}}
	return o.action(c)
}

// gradientSums returns where the sums of a block with row i are added, which are
// 0, and the means for it.
func (f *frame) gradientSums(part []float64, moments *value, i int) (s1, s2, mean []float64) {
	clear(part)
	of := stats(row(f.f64(moments), moments, f.setOf(moments, i)))
	return part[:of.channels()], part[of.channels():], of.means()
}

// maskedSums makes the gradient of an activation and sums it.
func (c *compiler) maskedSums(mask mask, x, dy, moments, sums *value) action {
	kernels, bf16 := c.kernels, c.reduced
	o := blockwise{x: x, total: sums, operands: []*value{x, c.out(1), dy, c.in(3)}, add: addTo[float64]}
	if mask.plus {
		o.operands = append(o.operands, c.in(4))
	}
	o.part = func(f *frame, i int, part []float64, in [][]float32) {
		s1, s2, mean := f.gradientSums(part, moments, i)
		m := kernel.Mask{Y: in[3], Most: mask.most}
		dx, dy := in[1], in[2]
		switch {
		case mask.plus && bf16:
			kernels.Add(dx, dy, in[4])
			kernels.RoundBF16(dx)
			dy = dx
		case mask.plus:
			m.Plus = in[4]
		}
		kernels.MaskedSums(s1, s2, mean, in[0], dx, dy, m)
	}
	o.half = func(f *frame, i int, part []float64, in [][]uint16) {
		s1, s2, mean := f.gradientSums(part, moments, i)
		m := kernel.HalfMask{Y: in[3], Most: mask.most}
		if mask.plus {
			m.Plus = in[4]
		}
		kernels.MaskedSumsHalf(s1, s2, mean, in[0], in[1], in[2], m)
	}
	a := o.action(c)
	a.rounds = true
	return a
}

func buildNormaliseGradInput(c *compiler) action {
	x, dy, m, sums, gamma, dx := c.in(0), c.in(1), c.in(2), c.in(3), c.in(4), c.out(0)
	eps, a, kernels := c.node.Float("eps"), &affines{}, c.kernels
	prepare := func(f *frame) error {
		a.room(f.units(m.Kind), x.channels)
		for r := range f.units(m.Kind) {
			a.gradient(r, stats(row(f.f64(m), m, r)), row(f.f64(sums), sums, r), f.f32(gamma), eps)
		}
		return nil
	}
	maps := []*value{x, dy, dx}
	return action{prepare: prepare, work: x.count / 6, asHalves: [][]*value{maps},
		row: func(f *frame, w *worker, i, piece, pieces int) {
			from, to := x.pixels(piece, pieces)
			set := f.setOf(m, i)
			if halves(maps...) {
				kernels.NormaliseGradientHalf(f.half(dx, w, i)[from:to], f.half(x, w, i)[from:to],
					f.half(dy, w, i)[from:to], a.sets[set], a.slopes[set])
				return
			}
			kernels.NormaliseGradient(f.at(dx, w, i)[from:to], f.at(x, w, i)[from:to], f.at(dy, w, i)[from:to],
				a.sets[set], a.slopes[set])
		}}
}

// gradient fills set r: dx = gamma*s*((dy - S1/n) - (x-mean)*(s*s*S2/n)), and
// gamma*s*dy where the statistics are constant.
func (a *affines) gradient(r int, m stats, sums []float64, gamma []float32, eps float64) {
	for ch, g := range gamma {
		s := m.inverse(ch, eps)
		shift, slope := 0.0, 0.0
		if m[0] > 0 {
			shift, slope = sums[ch]/m[0], s*s*sums[len(gamma)+ch]/m[0]
		}
		a.sets[r].Set(ch, m.means()[ch], float64(g)*s, shift)
		a.slopes[r][ch] = float32(slope)
	}
}

func buildNormaliseGradParams(c *compiler) action {
	m, sums, dgamma, dbeta := c.in(0), c.in(1), c.out(0), c.out(1)
	eps := c.node.Float("eps")
	return whole(func(f *frame) error {
		for r := range f.units(sums.Kind) {
			of := stats(f.f64(m))
			if m.Kind == sums.Kind {
				of = stats(row(f.f64(m), m, r))
			}
			s, gamma, beta := row(f.f64(sums), sums, r), row(f.f32(dgamma), dgamma, r), row(f.f32(dbeta), dbeta, r)
			for ch := range gamma {
				gamma[ch], beta[ch] = float32(of.inverse(ch, eps)*s[len(gamma)+ch]), float32(s[ch])
			}
		}
		return nil
	})
}
