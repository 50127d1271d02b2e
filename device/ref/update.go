package ref

// The bits of updates are defined: every operation below is one correctly rounded
// f32 operation, in the order of the code. Constants, for example 1-beta1, are
// rounded to f32 once, before they are used.

// floats returns operand i as f32.
func (c *call) floats(i int) []float32 {
	out := make([]float32, len(c.in(i).f))
	for k, v := range c.in(i).f {
		out[k] = float32(v)
	}
	return out
}

// scalar returns operand i, a scalar, as f32.
func (c *call) scalar(i int) float32 { return float32(c.in(i).f[0]) }

func (c *call) constant(key string) float32 { return float32(c.Float(key)) }

// set sets element i of result k.
func (c *call) set(k, i int, v float32) { c.out(k).f[i] = float64(v) }

func sgd(c *call) {
	w, g, v, lr := c.floats(0), c.floats(1), c.floats(2), c.scalar(3)
	momentum, decay, nesterov := c.constant("momentum"), c.constant("weight_decay"), c.Bool("nesterov")
	for i := range w {
		d := g[i]
		if decay != 0 {
			d = g[i] + float32(decay*w[i])
		}
		next := float32(momentum*v[i]) + d
		u := next
		if nesterov {
			u = d + float32(momentum*next)
		}
		c.set(0, i, w[i]-float32(lr*u))
		c.set(1, i, next)
	}
}

func adamW(c *call) {
	w, g, m, v := c.floats(0), c.floats(1), c.floats(2), c.floats(3)
	lr, step, root := c.scalar(4), c.scalar(5), c.scalar(6)
	rest1, beta2, rest2 := float32(1-c.Float("beta1")), c.constant("beta2"), float32(1-c.Float("beta2"))
	eps, shrink := c.constant("eps"), float32(lr*c.constant("weight_decay"))
	for i := range w {
		m1 := m[i] + float32(rest1*(g[i]-m[i]))
		v1 := float32(beta2*v[i]) + float32(rest2*float32(g[i]*g[i]))
		size := float32(sqrt32(v1)*root) + eps
		c.set(0, i, (w[i]-float32(shrink*w[i]))-float32(step*(m1/size)))
		c.set(1, i, m1)
		c.set(2, i, v1)
	}
}

func lars(c *call) {
	w, g, v, rate := c.floats(0), c.floats(1), c.floats(2), float32(c.scalar(3)*c.scalar(4))
	momentum, decay := c.constant("momentum"), c.constant("weight_decay")
	for i := range w {
		d := g[i] + float32(decay*w[i])
		next := float32(momentum*v[i]) + float32(rate*d)
		c.set(0, i, w[i]-next)
		c.set(1, i, next)
	}
}

func ema(c *call) {
	average, w, rest := c.floats(0), c.floats(1), float32(1-c.Float("decay"))
	for i := range w {
		c.set(0, i, average[i]+float32(rest*(w[i]-average[i])))
	}
}
