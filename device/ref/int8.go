package ref

import "github.com/bnctl/bnctl/device/class"

// factor returns an attribute that is used as a factor, as float32.
func (c *call) factor(key string) float32 { return float32(c.Float(key)) }

func quantize(c *call) {
	q, scale := class.Int8Of(c.Node), c.factor("scale")
	for i, v := range c.in(0).f {
		c.out(0).i[i] = int64(q.Quantize(float32(v), scale))
	}
}

func dequantize(c *call) {
	zero, scale := int64(c.Int("zero")), c.factor("scale")
	for i, v := range c.in(0).i {
		c.out(0).f[i] = float64(scale * float32(v-zero))
	}
}

// requantise sets result 0 to the requantised sums. Each output channel has a contiguous line of
// the given length.
func (c *call) requantise(sums []int64, line int) {
	q, by, channels := class.Int8Of(c.Node), c.in(3).f, c.out(0).typ.Shape[0]
	for i, sum := range sums {
		m := float32(by[i/line%channels])
		if c.Bool("float") {
			c.out(0).f[i] = float64(float32(sum) * m)
			continue
		}
		c.out(0).i[i] = int64(q.Requantise(int32(sum), m))
	}
}

// convInt8 computes sum[o] = bias[o] + sum over the group's channels and taps of weight * (in - x_zero).
func convInt8(c *call) {
	x, w, y := c.in(0), c.in(1).i, c.out(0)
	g := geometryOf(c.fn.WindowOf(c.Node), x.typ.Shape, y.typ.Shape)
	sums, zero := make([]int64, y.lead*y.size), int64(c.Int("x_zero"))
	for i := range sums {
		sums[i] = c.in(2).i[i/g.outPixels%y.typ.Shape[0]]
	}
	for n := range y.lead {
		image, all := x.ints(n), sums[n*y.size:]
		g.eachPlane(func(in, out, weight int) {
			src, dst := image[in*g.inPixels:], all[out*g.outPixels:]
			for _, t := range g.taps {
				k := w[weight+t.kernel]
				for i := range t.n {
					dst[t.out+i] += k * (src[t.in+i*t.step] - zero)
				}
			}
		})
	}
	c.requantise(sums, g.outPixels)
}

func denseInt8(c *call) {
	x, w, y := c.in(0), c.in(1).i, c.out(0)
	sums, zero := make([]int64, y.lead*y.size), int64(c.Int("x_zero"))
	for i := range sums {
		o := i % y.size
		sums[i] = c.in(2).i[o]
		for k, v := range x.ints(i / y.size) {
			sums[i] += w[o*x.size+k] * (v - zero)
		}
	}
	c.requantise(sums, 1)
}

func addInt8(c *call) {
	r, a, b := class.AddendsOf(c.Node), c.in(0).i, c.in(1).i
	for i := range a {
		c.out(0).i[i] = int64(r.Sum(uint8(a[i]), uint8(b[i])))
	}
}

func mulInt8(c *call) {
	r, a, b := class.FactorsOf(c.Node), c.in(0).i, c.in(1)
	each := c.in(0).size / b.size
	for i := range a {
		c.out(0).i[i] = int64(r.Product(int32(a[i])-r.AZero, int32(b.i[i/each])-r.BZero))
	}
}

func avgPoolInt8(c *call) {
	q, x, y := class.Int8Of(c.Node), c.in(0), c.out(0)
	zero := int64(c.Int("x_zero"))
	c.poolWindows(x.typ.Shape, y.typ.Shape).eachWindow(y, func(plane, i int, window []int) {
		sum := int64(0)
		for _, w := range window {
			sum += x.i[plane+w] - zero
		}
		by := class.MeanBy(c.Float("by"), int(c.divisor(window)))
		y.i[i] = int64(q.Requantise(int32(sum), by))
	})
}

func maxPoolInt8(c *call) {
	x, y := c.in(0), c.out(0)
	c.poolWindows(x.typ.Shape, y.typ.Shape).eachWindow(y, func(plane, i int, window []int) {
		for _, w := range window {
			y.i[i] = max(y.i[i], x.i[plane+w])
		}
	})
}

func tableInt8(c *call) {
	for i, v := range c.in(0).i {
		c.out(0).i[i] = c.in(1).i[v]
	}
}

func concatInt8(c *call) {
	concatLines(c, func(a *array) []int64 { return a.i })
}
