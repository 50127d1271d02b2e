package ref

// prelu computes x if x >= 0, and slope[c]*x otherwise.
func prelu(c *call) {
	x, slope, y := c.in(0), c.in(1).block(0), c.out(0)
	for n := range y.lead {
		eachChannel(y, n, func(ch, i int) {
			v := x.block(n)[i]
			y.block(n)[i] = choose(v >= 0, v, slope[ch]*v)
		})
	}
}

func preluGradInput(c *call) {
	x, slope, dy, dx := c.in(0), c.in(1).block(0), c.in(2), c.out(0)
	for n := range dx.lead {
		eachChannel(dx, n, func(ch, i int) {
			dx.block(n)[i] = choose(x.block(n)[i] >= 0, 1, slope[ch]) * dy.block(n)[i]
		})
	}
}

// preluGradSlope computes, for each replica and channel, the sum of x*dy where x < 0.
func preluGradSlope(c *call) {
	x, dy, ds := c.in(0), c.in(1), c.out(0)
	for n := range x.lead {
		sum := ds.block(c.owner[n])
		eachChannel(x, n, func(ch, i int) {
			if v := x.block(n)[i]; !(v >= 0) {
				sum[ch] += float64(v * dy.block(n)[i])
			}
		})
	}
}
