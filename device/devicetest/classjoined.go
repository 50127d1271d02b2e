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
	return all
}

// joined builds the chain of an activation. gradient has the attributes of the activation's
// gradient.
func (c *chainBuilder) joined(activation func(x graph.Value) graph.Value, gradient []any) {
	x, z := c.operand(rows(5, 4, 3).with(special)), c.operand(rows(17, 4, 3).with(special))
	conv := func() graph.Value { return c.do(graph.Conv, values{x, c.operand(whole(17, 5, 1, 1))}) }
	gate := c.operand(rows(17, 1, 1).with(special))
	c.out(activation(conv()), activation(c.batchNorm(conv())), activation(c.do(graph.Add, values{conv(), z})),
		activation(c.do(graph.Add, values{c.batchNorm(conv()), z})),
		activation(c.do(graph.Conv, values{z, c.operand(whole(17, 1, 3, 3))}, "groups", 17, "stride", []int{2, 2})),
		activation(c.do(graph.Dense, values{c.operand(rows(37).with(special)), c.operand(whole(19, 37))})),
		activation(c.do(graph.GroupNorm, values{z, c.operand(whole(17)), c.operand(whole(17))}, "groups", 17)),
		activation(c.do(graph.Mul, values{z, gate})), c.do(graph.Mul, values{activation(z), gate}),
		c.do(graph.Mul, values{z, activation(gate)}), c.do(graph.Mul, values{z, activation(z)}),
		c.do(graph.MaxPool, values{activation(z)}, "kernel", []int{2, 2}),
		c.do(graph.GlobalAvgPool, values{activation(z)}), c.do(graph.Concat, values{activation(z), z, x}))
	dx := c.do(graph.ActivationGrad, values{z, c.operand(rows(17, 4, 3).with(special))}, gradient...)
	m := c.operand(moment(whole, 17, 72))
	c.out(dx, c.do(graph.ChannelSum, values{dx}),
		c.do(graph.NormaliseGradSums, values{z, dx, m}, "over", "batch"))
}
