package ref

// lines divides a into lines of width elements. It returns a function line for the elements of line i, and
// the number of lines. A dense layer treats every position of its leading axes as a row, which is one line.
func (a *array) lines(width int) (line func(i int) []float64, count int) {
	return func(i int) []float64 { return a.f[i*width : (i+1)*width] }, len(a.f) / width
}

// last returns the length of the last axis.
func (a *array) last() int { return a.typ.Shape[len(a.typ.Shape)-1] }

// dense computes y[o] = bias[o] + sum over k of w[o,k] * x[k].
func dense(c *call) {
	w := c.in(1).block(0)
	x, _ := c.in(0).lines(c.in(0).last())
	y, count := c.out(0).lines(c.out(0).last())
	for n := range count {
		src, dst := x(n), y(n)
		addBias(c.in(2), dst, 1)
		for o := range dst {
			for k, v := range src {
				dst[o] += float64(w[o*len(src)+k] * v)
			}
		}
	}
}

// denseGradInput computes dx[k] = sum over o of w[o,k] * dy[o].
func denseGradInput(c *call) {
	w := c.in(1).block(0)
	dy, _ := c.in(0).lines(c.in(0).last())
	dx, count := c.out(0).lines(c.out(0).last())
	for n := range count {
		src, dst := dy(n), dx(n)
		for o, v := range src {
			for k := range dst {
				dst[k] += float64(w[o*len(dst)+k] * v)
			}
		}
	}
}

// denseGradWeight computes, for each replica, dw[o,k] = sum over its rows and positions of dy[o] * x[k].
func denseGradWeight(c *call) {
	dw, positions := c.out(0), c.in(0).size/c.in(0).last()
	x, _ := c.in(0).lines(c.in(0).last())
	dy, _ := c.in(1).lines(c.in(1).last())
	for r := range c.replicas() {
		dst := dw.block(r)
		for n := c.first[r] * positions; n < c.first[r+1]*positions; n++ {
			src := x(n)
			for o, d := range dy(n) {
				for k, v := range src {
					dst[o*len(src)+k] += float64(d * v)
				}
			}
		}
	}
}
