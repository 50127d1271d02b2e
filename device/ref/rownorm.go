package ref

import "math"

// set is a set of elements that are normalised together: their places in a row, in order.
type set []int

// moments returns the mean of x at the places and 1/sqrt(variance + eps), by two passes.
func (s set) moments(x []float64, eps float64) (mean, inverse float64) {
	for _, i := range s {
		mean += x[i]
	}
	mean /= float64(len(s))
	q := 0.0
	for _, i := range s {
		q += float64((x[i] - mean) * (x[i] - mean))
	}
	return mean, 1 / math.Sqrt(q/float64(len(s))+eps)
}

// lineSets returns the lines of a row of operand 0 along the attribute axes.
func (c *call) lineSets() []set {
	x := c.in(0)
	n, step := c.Lines(x.typ.Shape)
	all := make([]set, 0, x.size/n)
	for i := range x.size {
		if i/step%n != 0 {
			continue
		}
		one := make(set, n)
		for k := range one {
			one[k] = i + k*step
		}
		all = append(all, one)
	}
	return all
}

// groupSets returns the groups of a row of operand 0.
func (c *call) groupSets() []set {
	size := c.in(0).size / c.Int("groups")
	all := make([]set, c.Int("groups"))
	for g := range all {
		for i := range size {
			all[g] = append(all[g], g*size+i)
		}
	}
	return all
}

// scaled returns element i of the scale, or 1 if there is no scale, and element i of the bias.
func (c *call) scaled(i int) (scale, bias float64) {
	scale = 1
	if w := c.in(1); w != nil {
		scale = w.block(0)[i]
	}
	if b := c.in(2); b != nil {
		bias = b.block(0)[i]
	}
	return scale, bias
}

// layerNorm computes y = scale*((x-mean)*s) + bias, with a scale and bias for each place in
// the line.
func layerNorm(c *call) {
	c.rowNorm(c.lineSets(), func(k, _ int) int { return k })
}

// groupNorm computes y = scale*(x-mean)*s + bias, with a scale and bias for each channel.
func groupNorm(c *call) {
	plane := c.in(0).size / c.in(0).typ.Shape[0]
	c.rowNorm(c.groupSets(), func(_, i int) int { return i / plane })
}

// rowNorm normalises each of the sets of elements in every row. scaleIndex(k, i) is the index of the scale
// for element k of a set, where i is the index of this element in the row.
func (c *call) rowNorm(sets []set, scaleIndex func(k, i int) int) {
	x, y := c.in(0), c.out(0)
	for n := range x.lead {
		for _, s := range sets {
			mean, inverse := s.moments(x.block(n), c.Float("eps"))
			for k, i := range s {
				scale, bias := c.scaled(scaleIndex(k, i))
				y.block(n)[i] = float64(scale*((x.block(n)[i]-mean)*inverse)) + bias
			}
		}
	}
}

func layerNormGrad(c *call) { c.rowNormGrad(c.lineSets()) }

func groupNormGrad(c *call) { c.rowNormGrad(c.groupSets()) }

// rowNormGrad computes dx = s*(dy - S1/n - (x-mean)*s*s*S2/n).
func (c *call) rowNormGrad(sets []set) {
	in, out, dx := c.in(0), c.in(1), c.out(0)
	for row := range in.lead {
		x, dy := in.block(row), out.block(row)
		for _, s := range sets {
			mean, inverse := s.moments(x, c.Float("eps"))
			s1, s2, n := 0.0, 0.0, float64(len(s))
			for _, i := range s {
				s1 += dy[i]
				s2 += float64(dy[i] * (x[i] - mean))
			}
			for _, i := range s {
				d := float64((x[i] - mean) * inverse * inverse * s2 / n)
				dx.block(row)[i] = inverse * (dy[i] - s1/n - d)
			}
		}
	}
}
