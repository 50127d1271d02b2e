package ref

// pooled is a pool over the planes (H, W) of an image. Its result is a smaller image.
type pooled struct {
	in, out int     // number of pixels of a plane of each image
	windows [][]int // input pixels of each output pixel, in row-major order
}

// poolWindows returns the windows for the shapes (C, H, W) of both images.
func (c *call) poolWindows(in, out []int) pooled {
	p := pooled{in: in[1] * in[2], out: out[1] * out[2]}
	p.windows = make([][]int, p.out)
	for _, t := range taps(c.fn.WindowOf(c.Node), [2]int{in[1], in[2]}, [2]int{out[1], out[2]}) {
		for i := range t.n {
			p.windows[t.out+i] = append(p.windows[t.out+i], t.in+i*t.step)
		}
	}
	return p
}

// eachWindow visits every output element with the start of its input plane, its index, and the
// pixels of its window.
func (p pooled) eachWindow(out *array, visit func(plane, i int, window []int)) {
	for i := range out.lead * out.size {
		visit(i/p.out*p.in, i, p.windows[i%p.out])
	}
}

// largest returns the element with the first maximum of the window, or with the first NaN if there is a NaN.
func largest(x []float64, plane int, window []int) int {
	best := plane + window[0]
	for _, w := range window[1:] {
		if v := x[plane+w]; v > x[best] || v != v && x[best] == x[best] {
			best = plane + w
		}
	}
	return best
}

func maxPool(c *call) {
	x, y := c.in(0), c.out(0)
	c.poolWindows(x.typ.Shape, y.typ.Shape).eachWindow(y, func(plane, i int, window []int) {
		y.f[i] = x.f[largest(x.f, plane, window)]
	})
}

func maxPoolGrad(c *call) {
	x, dy, dx := c.in(0), c.in(1), c.out(0)
	c.poolWindows(x.typ.Shape, dy.typ.Shape).eachWindow(dy, func(plane, i int, window []int) {
		dx.f[largest(x.f, plane, window)] += dy.f[i]
	})
}

// divisor returns the divisor of an average over the window.
func (c *call) divisor(window []int) float64 {
	if k := c.Ints("kernel"); c.Bool("count_pad") {
		return float64(k[0] * k[1])
	}
	return float64(len(window))
}

func avgPool(c *call) {
	x, y := c.in(0), c.out(0)
	c.poolWindows(x.typ.Shape, y.typ.Shape).eachWindow(y, func(plane, i int, window []int) {
		for _, w := range window {
			y.f[i] += x.f[plane+w]
		}
		y.f[i] /= c.divisor(window)
	})
}

func avgPoolGrad(c *call) {
	dy, dx := c.in(0), c.out(0)
	c.poolWindows(dx.typ.Shape, dy.typ.Shape).eachWindow(dy, func(plane, i int, window []int) {
		for _, w := range window {
			dx.f[plane+w] += dy.f[i] / c.divisor(window)
		}
	})
}

func globalAvgPool(c *call) {
	x, y := c.in(0), c.out(0)
	pixels := x.size / y.size
	for i, v := range x.f {
		y.f[i/pixels] += v
	}
	for i := range y.f {
		y.f[i] /= float64(pixels)
	}
}

func globalAvgPoolGrad(c *call) {
	dy, dx := c.in(0), c.out(0)
	pixels := dx.size / dy.size
	for i := range dx.f {
		dx.f[i] = dy.f[i/pixels] / float64(pixels)
	}
}
