package ref

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// values returns the elements of row n of a at the places in s, as a class.Channel.
func (s set) values(a *array, n int) class.Channel {
	return class.Channel{Rows: 1, Positions: len(s),
		At: func(i int) float32 { return float32(a.block(n)[s[i]]) }}
}

// channels splits the places of a group into channels of plane elements each.
func (s set) channels(plane int) []set {
	var all []set
	for ; len(s) > 0; s = s[plane:] {
		all = append(all, s[:plane])
	}
	return all
}

// defineLayerNorm normalises each line, multiplies by the scale, and adds the bias; each step is rounded.
func defineLayerNorm(c *call) {
	x, y := c.in(0), c.out(0)
	for n := range x.lead {
		for _, s := range c.lineSets() {
			a := class.NormOf(s.values(x, n).Moments(), c.Float("eps"), 1, class.NoAdd)
			for k, i := range s {
				v := a.Normalise(float32(x.block(n)[i]))
				scale, bias := c.scaled(k)
				if c.in(1) != nil {
					v *= float32(scale)
				}
				if c.in(2) != nil {
					v += float32(bias)
				}
				y.block(n)[i] = float64(v)
			}
		}
	}
}

// groupMoments returns the moments of a group of row n.
func (c *call) groupMoments(s set, n int) [3]float64 {
	x := c.in(0)
	var all [][3]float64
	for _, channel := range s.channels(x.size / x.typ.Shape[0]) {
		all = append(all, channel.values(x, n).Moments())
	}
	return class.MergeMoments(all)
}

// defineGroupNorm computes a group norm. Each channel is normalised like a channel of a batch norm, with
// the moments of its group.
func defineGroupNorm(c *call) {
	x, y := c.in(0), c.out(0)
	plane := x.size / x.typ.Shape[0]
	for n := range x.lead {
		for _, s := range c.groupSets() {
			m := c.groupMoments(s, n)
			for _, i := range s {
				scale, bias := c.scaled(i / plane)
				if c.in(2) == nil {
					bias = class.NoAdd
				}
				a := class.NormOf(m, c.Float("eps"), scale, bias)
				y.block(n)[i] = float64(a.Normalise(float32(x.block(n)[i])))
			}
		}
	}
}

// defineRowNormGrad computes the gradient of a layer norm or group norm. The sums of a group are
// the totals of its channels' sums.
func defineRowNormGrad(c *call) {
	x, dy := c.in(0), c.in(1)
	lines := c.Op == graph.LayerNormGrad
	sets := c.groupSets
	if lines {
		sets = c.lineSets
	}
	for n := range x.lead {
		for _, s := range sets() {
			operands, m := []set{s}, [3]float64{}
			if lines {
				m = s.values(x, n).Moments()
			} else {
				operands, m = s.channels(x.size/x.typ.Shape[0]), c.groupMoments(s, n)
			}
			var sums [][2]float64
			for _, one := range operands {
				sums = append(sums, one.values(x, n).GradientSums(one.values(dy, n).At, m[1]))
			}
			a, slope := class.NormGradientOf(m, class.AddSums(sums), c.Float("eps"))
			for _, i := range s {
				c.out(0).block(n)[i] = float64(a.Gradient(float32(x.block(n)[i]), float32(dy.block(n)[i]), slope))
			}
		}
	}
}
