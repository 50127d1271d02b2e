package cpu

import "github.com/bnctl/bnctl/graph"

// poolOps are pooling and resizing.
var poolOps = map[graph.Op]func(c *compiler) action{
	graph.MaxPool:           buildMaxPool,
	graph.MaxPoolGrad:       buildMaxPoolGrad,
	graph.AvgPool:           buildAvgPool,
	graph.AvgPoolGrad:       buildAvgPoolGrad,
	graph.GlobalAvgPool:     buildGlobalAvgPool,
	graph.GlobalAvgPoolGrad: buildGlobalAvgPoolGrad,
	graph.Upsample:          buildUpsample,
	graph.UpsampleGrad:      buildUpsampleGrad,
}

// windows lists, for every pixel of a pool's small image, the pixels of the
// large one that it sees, in row-major order, as byte offsets.
type windows [][]int32

// windowsOf returns the windows of the current pool node between images of
// these shapes [C, H, W]; nil after it has refused the node.
func (c *compiler) windowsOf(in, out []int) windows {
	g := newConv(c.fn.WindowOf(c.node), in, out)
	if why := g.tooLarge(); why != "" {
		c.no(why)
		return nil
	}
	all := make(windows, 0, out[1]*out[2])
	for p := range out[1] * out[2] {
		var seen []int32
		for t := range g.taps {
			if at := g.input(p/g.ow, p%g.ow, t/g.Kernel[1], t%g.Kernel[1]); at >= 0 {
				seen = append(seen, at)
			}
		}
		all = append(all, seen)
	}
	return all
}

// geometry returns that of the current pool node.
func (c *compiler) geometry(x, y *value) *conv {
	return newConv(c.fn.WindowOf(c.node), x.Shape, y.Shape)
}

func buildMaxPool(c *compiler) action {
	x, y := c.in(0), c.out(0)
	seen, n := c.windowsOf(x.Shape, y.Shape), x.channels
	ring := y.positions
	c.after = append(c.after, func() {
		if y.ring > 0 {
			ring = y.ring
		}
		for _, pixels := range seen {
			for i := range pixels {
				pixels[i] %= int32(4 * x.kept())
			}
		}
	})
	span := func(f *frame, w *worker, i, from, to int) {
		image, pooled := f.at(x, w, i), f.at(y, w, i)
		for p := from; p < to; p++ {
			f.kernels.MaxPool(pooled[p%ring*n:][:n], image, seen[p])
		}
	}
	return bySpan(action{work: x.count / 4, span: span, positions: y.positions, step: 1, width: n,
		needs: c.geometry(x, y).needs, rings: true})
}

// buildMaxPoolGrad finds the maximum of every window again.
func buildMaxPoolGrad(c *compiler) action {
	x, dy, dx := c.in(0), c.in(1), c.out(0)
	seen, n := c.windowsOf(x.Shape, dy.Shape), x.channels
	return action{row: func(f *frame, w *worker, i, _, _ int) {
		image, from, to := f.at(x, w, i), f.at(dy, w, i), f.at(dx, w, i)
		clear(to)
		for p, pixels := range seen {
			f.kernels.MaxPoolGradient(to, image, from[p*n:][:n], pixels)
		}
	}}
}

// divisors returns what the average over each window is divided by.
func (c *compiler) divisors(seen windows) []float32 {
	d := make([]float32, len(seen))
	k := c.node.Ints("kernel")
	for p, pixels := range seen {
		d[p] = float32(len(pixels))
		if c.node.Bool("count_pad") {
			d[p] = float32(k[0] * k[1])
		}
	}
	return d
}

func buildAvgPool(c *compiler) action {
	x, y := c.in(0), c.out(0)
	seen, n := c.windowsOf(x.Shape, y.Shape), x.channels
	divide := c.divisors(seen)
	return action{row: func(f *frame, w *worker, i, _, _ int) {
		image, pooled, sum := f.at(x, w, i), f.at(y, w, i), w.doubles(n)
		for p, pixels := range seen {
			clear(sum)
			for _, at := range pixels {
				addTo(sum, image[int(at)/4:][:n])
			}
			divideInto(pooled[p*n:], sum, float64(divide[p]))
		}
	}}
}

func buildAvgPoolGrad(c *compiler) action {
	dy, dx := c.in(0), c.out(0)
	seen, n := c.windowsOf(dx.Shape, dy.Shape), dx.channels
	divide := c.divisors(seen)
	return action{row: func(f *frame, w *worker, i, _, _ int) {
		from, to := f.at(dy, w, i), f.at(dx, w, i)
		clear(to)
		for p, pixels := range seen {
			for _, at := range pixels {
				sum := to[int(at)/4:][:n]
				for ch, g := range from[p*n:][:n] {
					sum[ch] += g / divide[p]
				}
			}
		}
	}}
}

func buildGlobalAvgPool(c *compiler) action {
	x, y := c.in(0), c.out(0)
	return action{row: func(f *frame, w *worker, i, _, _ int) {
		sum := w.doubles(x.channels)
		clear(sum)
		f.kernels.Sums(sum, f.at(x, w, i))
		divideInto(f.at(y, w, i), sum, float64(x.positions))
	}}
}

func buildGlobalAvgPoolGrad(c *compiler) action {
	dy, dx := c.in(0), c.out(0)
	return action{row: func(f *frame, w *worker, i, _, _ int) {
		to, own := f.at(dx, w, i), w.floats(dx.channels)
		for ch, g := range f.at(dy, w, i) {
			own[ch] = g / float32(dx.positions)
		}
		for p := range dx.positions {
			copy(to[p*dx.channels:], own)
		}
	}}
}
