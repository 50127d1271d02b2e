package ref

// dense: y[o] = bias[o] + sum over k of w[o,k] * x[k].
func dense(c *call) {
	x, w, y := c.in(0), c.in(1).at(0), c.out(0)
	for n := range y.lead {
		src, dst := x.at(n), y.at(n)
		addBias(c.in(2), dst, 1)
		for o := range dst {
			for k, v := range src {
				dst[o] += float64(w[o*len(src)+k] * v)
			}
		}
	}
}

// denseGradInput: dx[k] = sum over o of w[o,k] * dy[o].
func denseGradInput(c *call) {
	dy, w, dx := c.in(0), c.in(1).at(0), c.out(0)
	for n := range dx.lead {
		src, dst := dy.at(n), dx.at(n)
		for o, v := range src {
			for k := range dst {
				dst[k] += float64(w[o*len(dst)+k] * v)
			}
		}
	}
}

// denseGradWeight: per replica, dw[o,k] = sum over its rows of dy[o] * x[k].
func denseGradWeight(c *call) {
	x, dy, dw := c.in(0), c.in(1), c.out(0)
	for r := range c.replicas() {
		dst := dw.at(r)
		for n := c.first[r]; n < c.first[r+1]; n++ {
			src := x.at(n)
			for o, d := range dy.at(n) {
				for k, v := range src {
					dst[o*len(src)+k] += float64(d * v)
				}
			}
		}
	}
}
