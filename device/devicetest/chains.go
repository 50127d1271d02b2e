package devicetest

import "github.com/bnctl/bnctl/graph"

// conv appends the convolution that the chains below use: 3x3, with 16 channels of 6x6.
func (c *chainBuilder) conv(x graph.Value) graph.Value {
	return c.do(graph.Conv, values{x, c.operand(whole(16, 16, 3, 3))}, "pad", []int{1, 1, 1, 1})
}

func (c *chainBuilder) batchNorm(x graph.Value) graph.Value {
	n := c.Type(x).Shape[0]
	return c.do(graph.BatchNorm, values{x, c.operand(whole(n)), c.operand(whole(n)), c.operand(whole(n)),
		c.operand(whole(n).filledBy(positive))})
}

func (c *chainBuilder) normalise(x graph.Value) graph.Value {
	m := c.do(graph.Moments, values{x})
	return c.do(graph.Normalise, values{x, m, c.operand(whole(16)), c.operand(whole(16))}, "over", "replica")
}

// deep is the bound of chains with a convolution and a norm. Their values are of order 10.
var deep = bound{relative: 64 * ulp, absolute: 1e-4, inner: true}

// inside is the bound blended, for chains with sums as intermediate values.
var inside = bound{relative: blended.relative, absolute: blended.absolute, inner: true}

var chains = []chain{
	{"convolution, norm, relu", func(c *chainBuilder) {
		c.out(c.do(graph.Relu, values{c.batchNorm(c.conv(c.operand(rows(16, 6, 6))))}))
	}, deep},
	{"every value of convolution, norm, relu", func(c *chainBuilder) {
		y := c.conv(c.operand(rows(16, 6, 6)))
		n := c.batchNorm(y)
		c.out(n, c.do(graph.Relu, values{n}), y)
	}, deep},
	{"two norms of one convolution", func(c *chainBuilder) {
		y := c.conv(c.operand(rows(16, 6, 6)))
		c.out(c.batchNorm(y), c.batchNorm(y))
	}, deep},
	{"two convolutions with one weight", func(c *chainBuilder) {
		x, w := c.operand(rows(16, 6, 6)), c.operand(whole(16, 16, 1, 1))
		y := c.do(graph.Conv, values{x, w})
		c.out(c.batchNorm(y), c.do(graph.Conv, values{c.batchNorm(y), w}))
	}, deep},
	{"convolution with bias, norm, relu6", func(c *chainBuilder) {
		x, w := c.operand(rows(16, 6, 6)), c.operand(whole(32, 16, 1, 1))
		y := c.do(graph.Conv, values{x, w, c.operand(whole(32))}, "stride", []int{2, 2})
		c.out(c.do(graph.Relu6, values{c.batchNorm(y)}))
	}, deep},
	{"dense, norm, relu", func(c *chainBuilder) {
		y := c.do(graph.Dense, values{c.operand(rows(37)), c.operand(whole(19, 37)), c.operand(whole(19))})
		c.out(c.do(graph.Relu, values{c.batchNorm(y)}))
	}, deep},
	{"norm, sum, relu", func(c *chainBuilder) {
		x := c.operand(rows(16, 6, 6))
		y := c.do(graph.Add, values{c.batchNorm(c.conv(x)), x})
		c.out(c.do(graph.Relu, values{y}), y)
	}, deep},
	{"moments of a convolution, norm, sum, relu", func(c *chainBuilder) {
		x := c.operand(rows(16, 6, 6))
		y := c.do(graph.Relu, values{c.do(graph.Add, values{x, c.normalise(c.conv(x))})})
		c.out(y, c.do(graph.Relu, values{c.normalise(y)}))
	}, deep},
	{"sum of a value with itself", func(c *chainBuilder) {
		x := c.do(graph.Relu, values{c.operand(rows(16, 3, 3))})
		c.out(c.do(graph.Add, values{x, x}), c.do(graph.Mul, values{x, x}), c.do(graph.Sub, values{x, x}))
	}, rounded},
	{"operands that are used again", func(c *chainBuilder) {
		x := c.operand(rows(16, 3, 3))
		y := c.do(graph.Affine, values{x}, "by", 2.0)
		z := c.do(graph.Relu, values{y})
		c.out(c.do(graph.Add, values{z, y}), c.do(graph.Add, values{z, x}), y, z)
	}, blended},
	{"views of one value", func(c *chainBuilder) {
		x := c.do(graph.Relu, values{c.operand(rows(16, 3, 4))})
		flat := c.do(graph.Reshape, values{x}, "shape", []int{192})
		sliced := c.do(graph.Slice, values{flat}, "begin", []int{5}, "end", []int{100}, "step", []int{5})
		c.out(c.do(graph.Affine, values{flat}, "add", 1.0), x, sliced,
			c.do(graph.Reshape, values{flat}, "shape", []int{16, 12}))
	}, rounded},
	{"inputs, state and constants as outputs", func(c *chainBuilder) {
		x, w := c.operand(rows(16, 3, 3)), c.operand(whole(16, 3))
		c.out(x, w, c.do(graph.Relu, values{w}), x)
	}, bits},
	{"shortcut of fewer pixels and more channels", func(c *chainBuilder) {
		x := c.do(graph.Relu, values{c.operand(rows(16, 6, 6))})
		half := c.do(graph.Slice, values{x}, "begin", []int{0, 0, 0}, "end", []int{16, 6, 6}, "step",
			[]int{1, 2, 2})
		padded := c.do(graph.Pad, values{half}, "before", []int{8, 0, 0}, "after", []int{8, 0, 0})
		y := c.do(graph.Conv, values{x, c.operand(whole(32, 16, 3, 3))}, "stride", []int{2, 2}, "pad",
			[]int{1, 1, 1, 1})
		c.out(c.do(graph.Relu, values{c.do(graph.Add, values{padded, c.batchNorm(y)})}))
	}, deep},
	{"concat of parts that live on", func(c *chainBuilder) {
		x := c.operand(rows(16, 4, 4))
		a, b := c.do(graph.Relu, values{x}), c.do(graph.Affine, values{x}, "by", -1.0)
		both := c.do(graph.Concat, values{a, b, a})
		pooled := c.do(graph.GlobalAvgPool, values{both})
		c.out(c.do(graph.Mul, values{both, c.do(graph.Sigmoid, values{pooled})}), a, b)
	}, inside},
	{"values and their gates", func(c *chainBuilder) {
		x := c.conv(c.operand(rows(16, 6, 6)))
		y := c.do(graph.Mul, values{x, c.do(graph.Sigmoid, values{x})})
		gate := c.do(graph.HardSigmoid, values{y})
		z := c.do(graph.Mul, values{gate, y})
		other := c.do(graph.HardSigmoid, values{z}, "alpha", 0.2)
		lastGate := c.do(graph.Sigmoid, values{z})
		c.out(y, c.do(graph.Mul, values{z, other}), c.do(graph.Mul, values{z, lastGate}), lastGate)
	}, deep},
	{"squeeze and excitation", func(c *chainBuilder) {
		x := c.do(graph.Silu, values{c.batchNorm(c.conv(c.operand(rows(16, 6, 6))))})
		few := c.do(graph.Conv, values{c.do(graph.GlobalAvgPool, values{x}), c.operand(whole(5, 16, 1, 1))})
		gate := c.do(graph.Conv, values{c.do(graph.Silu, values{few}), c.operand(whole(16, 5, 1, 1))})
		y := c.do(graph.Mul, values{c.do(graph.Sigmoid, values{gate}), x})
		c.out(c.do(graph.Conv, values{y, c.operand(whole(24, 16, 1, 1))}))
	}, deep},
	{"gradient of a pool of a relu", func(c *chainBuilder) {
		x := c.do(graph.Relu, values{c.operand(rows(16, 6, 6))})
		y := c.do(graph.MaxPool, values{x}, "kernel", []int{2, 2}, "stride", []int{2, 2})
		dx := c.do(graph.MaxPoolGrad, values{x, y}, "kernel", []int{2, 2}, "stride", []int{2, 2})
		c.out(c.do(graph.ActivationGrad, values{x, dx}, "of", "relu"), dx, y)
	}, bits},
}
