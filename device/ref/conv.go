package ref

import "github.com/bnctl/bnctl/graph"

// geometry has the shapes of a convolution: in is its input image, and out its
// result. Gradients use the same names for the images of the forward convolution.
type geometry struct {
	groups                  int
	inPerGroup, outPerGroup int // channels
	inPixels, outPixels     int
	kernel                  int // elements of a kernel of one channel
	taps                    []tap
}

// geometryOf returns the geometry for the shapes (C, H, W) of both images.
func geometryOf(w graph.Window, in, out []int) geometry {
	return geometry{
		groups: w.Groups, inPerGroup: in[0] / w.Groups, outPerGroup: out[0] / w.Groups,
		inPixels: in[1] * in[2], outPixels: out[1] * out[2], kernel: w.Kernel[0] * w.Kernel[1],
		taps: taps(w, [2]int{in[1], in[2]}, [2]int{out[1], out[2]}),
	}
}

// eachPlane visits every pair of an input channel and an output channel that are connected.
// weight is the pair's first element in (O, C/groups, kh, kw).
func (g *geometry) eachPlane(visit func(in, out, weight int)) {
	for o := range g.groups * g.outPerGroup {
		for ci := range g.inPerGroup {
			visit(o/g.outPerGroup*g.inPerGroup+ci, o, (o*g.inPerGroup+ci)*g.kernel)
		}
	}
}

// conv computes out[o] = bias[o] + sum over the group's channels and taps of weight * in.
func conv(c *call) {
	x, w, y := c.in(0), c.in(1).block(0), c.out(0)
	g := geometryOf(c.fn.WindowOf(c.Node), x.typ.Shape, y.typ.Shape)
	for n := range y.lead {
		addBias(c.in(2), y.block(n), g.outPixels)
		g.forward(x.block(n), w, y.block(n))
	}
}

func (g *geometry) forward(x, w, y []float64) {
	g.eachPlane(func(in, out, weight int) {
		src, dst := x[in*g.inPixels:(in+1)*g.inPixels], y[out*g.outPixels:(out+1)*g.outPixels]
		for _, t := range g.taps {
			k := w[weight+t.kernel]
			for i := range t.n {
				dst[t.out+i] += float64(k * src[t.in+i*t.step])
			}
		}
	})
}

// addBias sets y, (O, pixels), to the bias. y is zero before, and stays zero without a bias.
func addBias(bias *array, y []float64, pixels int) {
	if bias == nil {
		return
	}
	for i := range y {
		y[i] = bias.f[i/pixels]
	}
}

// convGradInput computes the transpose of conv with respect to its input.
func convGradInput(c *call) {
	dy, w, dx := c.in(0), c.in(1).block(0), c.out(0)
	g := geometryOf(c.fn.WindowOf(c.Node), dx.typ.Shape, dy.typ.Shape)
	for n := range dx.lead {
		g.backward(dy.block(n), w, dx.block(n))
	}
}

func (g *geometry) backward(dy, w, dx []float64) {
	g.eachPlane(func(in, out, weight int) {
		src, dst := dy[out*g.outPixels:(out+1)*g.outPixels], dx[in*g.inPixels:(in+1)*g.inPixels]
		for _, t := range g.taps {
			k := w[weight+t.kernel]
			for i := range t.n {
				dst[t.in+i*t.step] += float64(k * src[t.out+i])
			}
		}
	})
}

// convTranspose computes the transpose of a convolution, like convGradInput, and adds the bias.
func convTranspose(c *call) {
	x, w, y := c.in(0), c.in(1).block(0), c.out(0)
	g := geometryOf(c.fn.WindowOf(c.Node), y.typ.Shape, x.typ.Shape)
	for n := range y.lead {
		addBias(c.in(2), y.block(n), g.inPixels)
		g.backward(x.block(n), w, y.block(n))
	}
}

// convGradWeight computes, for each replica, the sum over its rows of in * dy for every tap.
func convGradWeight(c *call) {
	x, dy, dw := c.in(0), c.in(1), c.out(0)
	g := geometryOf(c.fn.WindowOf(c.Node), x.typ.Shape, dy.typ.Shape)
	for r := range c.replicas() {
		for n := c.first[r]; n < c.first[r+1]; n++ {
			g.weights(x.block(n), dy.block(n), dw.block(r))
		}
	}
}

func (g *geometry) weights(x, dy, dw []float64) {
	g.eachPlane(func(in, out, weight int) {
		a, b := x[in*g.inPixels:(in+1)*g.inPixels], dy[out*g.outPixels:(out+1)*g.outPixels]
		for _, t := range g.taps {
			sum := 0.0
			for i := range t.n {
				sum += float64(a[t.in+i*t.step] * b[t.out+i])
			}
			dw[weight+t.kernel] += sum
		}
	})
}
