package devicetest

import "github.com/bnctl/bnctl/graph"

// joined returns a chain for each activation, with everything that a device may fuse with the activation.
// The activation follows a convolution, a depthwise convolution, a dense layer, norms, a sum and a
// product. It is followed by a product with a gate for every pixel or channel, by a pool, and by a
// concatenation. Its gradient is followed by the sums of a norm. Inputs include NaN, infinities, zeros of
// either sign and the smallest numbers. The number of channels does not fill a vector.
func joined() []chain {
	var all []chain
	for _, a := range []struct {
		op    graph.Op
		attrs []any
	}{
		{graph.Relu, nil}, {graph.Relu6, nil}, {graph.LeakyRelu, []any{"alpha", 0.1}},
		{graph.Elu, []any{"alpha", 0.7}}, {graph.Sigmoid, nil},
		{graph.HardSigmoid, []any{"alpha", 0.2, "beta", 0.45}},
		{graph.Silu, nil}, {graph.HardSwish, nil}, {graph.Tanh, nil}, {graph.Softplus, nil},
		{graph.Clip, []any{"min", -1.5, "max", 2.5}}, {graph.Erf, nil}, {graph.Gelu, nil}, {graph.GeluTanh, nil},
		{graph.Mish, nil},
	} {
		all = append(all, chain{a.op.String(), func(c *chainBuilder) {
			c.joined(func(x graph.Value) graph.Value { return c.do(a.op, values{x}, a.attrs...) },
				append([]any{"of", a.op.String()}, a.attrs...))
		}, bits})
	}
	return append(all, chain{"silu of a value that is read again", (*chainBuilder).readTwice, bits})
}

// readTwice builds the silu of the results of many kinds of nodes, and products of each silu with the result
// itself. So a device that computes the silu together with a node must also keep the result of the node.
func (c *chainBuilder) readTwice() {
	image := func(channels int) graph.Value { return c.operand(rows(channels, 5, 4).filledBy(special)) }
	weight := func(shape ...int) graph.Value { return c.operand(whole(shape...)) }
	same := []int{1, 1, 1, 1}
	a, b := c.operand(rows(5, 9).filledBy(special)), c.operand(rows(9, 7).filledBy(special))
	for _, v := range (values{
		c.do(graph.Conv, values{image(5), weight(17, 5, 1, 1)}),
		c.do(graph.Conv, values{image(5), weight(35, 5, 1, 1)}),
		c.do(graph.Conv, values{image(5), weight(5, 1, 3, 3)}, "groups", 5, "pad", same),
		c.do(graph.Conv, values{image(24), weight(16, 24, 3, 3)}, "pad", same),
		c.do(graph.Conv, values{image(32), weight(48, 32, 3, 3)}, "pad", same),
		c.do(graph.Conv, values{image(16), weight(16, 16, 3, 3)}, "pad", same),
		c.do(graph.Conv, values{c.operand(rows(16, 7, 7)), weight(32, 16, 5, 5)}, "pad", []int{2, 2, 2, 2}),
		c.do(graph.ConvTranspose, values{image(5), weight(5, 19, 2, 2)}, "stride", []int{2, 2}),
		c.do(graph.ConvTranspose, values{image(5), weight(5, 35, 2, 2)}, "stride", []int{2, 2}),
		c.do(graph.MatMul, values{a, b}),
		c.do(graph.MatMul, values{c.operand(rows(35, 5)), a}),
		c.do(graph.GroupNorm, values{image(6), weight(6), weight(6)}, "groups", 6),
		c.normalise(image(16)),
		c.do(graph.Exp, values{image(3)}),
	}) {
		c.out(c.do(graph.Mul, values{v, c.do(graph.Silu, values{v})}))
	}
}

// joined builds the chain of an activation. gradient has the attributes of the activation's
// gradient.
func (c *chainBuilder) joined(activation func(x graph.Value) graph.Value, gradient []any) {
	x, z := c.operand(rows(5, 4, 3).filledBy(special)), c.operand(rows(17, 4, 3).filledBy(special))
	conv := func() graph.Value { return c.do(graph.Conv, values{x, c.operand(whole(17, 5, 1, 1))}) }
	gate := c.operand(rows(17, 1, 1).filledBy(special))
	c.out(activation(conv()), activation(c.batchNorm(conv())), activation(c.do(graph.Add, values{conv(), z})),
		activation(c.do(graph.Add, values{c.batchNorm(conv()), z})),
		activation(c.do(graph.Conv, values{z, c.operand(whole(17, 1, 3, 3))}, "groups", 17, "stride", []int{2, 2})),
		activation(c.do(graph.Dense, values{c.operand(rows(37).filledBy(special)), c.operand(whole(19, 37))})),
		activation(c.do(graph.GroupNorm, values{z, c.operand(whole(17)), c.operand(whole(17))}, "groups", 17)),
		activation(c.do(graph.Mul, values{z, gate})), c.do(graph.Mul, values{activation(z), gate}),
		c.do(graph.Mul, values{z, activation(gate)}), c.do(graph.Mul, values{z, activation(z)}),
		c.do(graph.MaxPool, values{activation(z)}, "kernel", []int{2, 2}),
		c.do(graph.GlobalAvgPool, values{activation(z)}), c.do(graph.Concat, values{activation(z), z, x}))
	dx := c.do(graph.ActivationGrad, values{z, c.operand(rows(17, 4, 3).filledBy(special))}, gradient...)
	m := c.operand(moment(whole, 17, 72))
	c.out(dx, c.do(graph.ChannelSum, values{dx}),
		c.do(graph.NormaliseGradSums, values{z, dx, m}, "over", "batch"))
}
