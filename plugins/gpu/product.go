package gpu

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// productOps are the convolutions and dense products.
var productOps = map[graph.Op]func(c *compiler){
	graph.Conv:           buildForward,
	graph.Dense:          buildForward,
	graph.ConvGradInput:  buildBackward,
	graph.DenseGradInput: buildBackward,
	graph.ConvTranspose:  buildBackward,
}

// layer returns the layer of the current node and its algorithm.
func (c *compiler) layer() (class.Layer, class.Algorithm) {
	l, _ := class.LayerOf(c.fn.Function, c.node)
	return l, class.Choose(l, device.F32, class.FMA)
}

func buildForward(c *compiler) {
	l, algorithm := c.layer()
	if c.leading() {
		c.positionwise(l, forwardWeights(l))
		return
	}
	x, y, perOutput := c.in(0), c.out(0), l.C/l.Groups*l.Kernel[0]*l.Kernel[1]
	t, w := c.filter(channelIndex{perOutput, l.O, l.O * perOutput, 0}), forwardWeights(l)
	switch algorithm {
	case class.DepthwiseRows:
		c.chains(l, w, byRows, x, t, y)
	case class.Direct:
		c.chains(l, w, byDirect, x, t, y)
	case class.Winograd4, class.Winograd2, class.Winograd5:
		c.winograd(l, tilesOf(l, algorithm), w, byWindow, x, t, y)
	default:
		c.chains(l, w, byWindow, x, t, y)
	}
}

// leading reports whether the current node is a dense layer with leading axes. The channels
// of each position are contiguous then.
func (c *compiler) leading() bool {
	switch c.node.Op {
	case graph.Dense, graph.DenseGradInput, graph.DenseGradWeight:
		return c.node.Int("leading") > 0
	}
	return false
}

// pixel returns the layer of one position of a dense layer with leading axes.
func pixel(l class.Layer) class.Layer {
	l.H, l.OH = 1, 1
	return l
}

// positionwise launches the product of a layer with leading axes. Each position is an
// image of one pixel.
func (c *compiler) positionwise(l class.Layer, w weights) {
	t := weightOnly(c.in(1))
	if bias := c.in(2); bias != nil {
		t.bias, t.biased = bias, 1
	}
	b, y := blockOf(l.O), c.out(0)
	c.product(b, "conv_block", y.Kind, b.rowBlocks(1, l.O), l.OH, append([]any{c.in(0), t.weight, t.bias, y,
		c.geometry(pixel(l), w, byWindow), l.C, t.biased}, c.epilogue(l.OH)...)...)
	c.steps[len(c.steps)-1].(*product).images = l.OH
}

// chains launches a convolution that computes each output by one chain of additions.
func (c *compiler) chains(l class.Layer, w weights, order int, x *value, t filter, y *value) {
	table, last := c.geometry(l, w, order), c.epilogue(1)
	args := append([]any{x, t.weight, t.bias, y, table, x.count, t.biased}, last...)
	switch b := blockOf(l.O / l.Groups); {
	case order == byDirect:
		c.product(directBlock, "direct_block", y.Kind, 1, y.positions(), args...)
	case l.O > l.Groups:
		c.product(b, "conv_block", y.Kind, b.rowBlocks(l.Groups, l.O), y.positions(), args...)
	default:
		c.launch("conv", y.Kind, y.count, append([]any{x, t.weight, t.bias, y, table, y.count, x.count, t.biased},
			last...)...)
	}
}

// buildBackward lowers the gradient for the input, and the transposed convolution.
func buildBackward(c *compiler) {
	l, algorithm := c.layer()
	if c.leading() {
		back, _ := l.Flipped()
		c.positionwise(back, flippedWeights(back))
		return
	}
	dy, dx, t := c.in(0), c.out(0), weightOnly(c.in(1))
	if c.node.Op == graph.ConvTranspose {
		taps, in, out := l.Kernel[0]*l.Kernel[1], l.O/l.Groups, l.C/l.Groups
		t = c.filter(channelIndex{taps, out, in * out * taps, out})
	}
	back, _ := l.Flipped()
	switch w := flippedWeights(back); algorithm {
	case class.DepthwiseRows:
		c.chains(back, w, byRows, dy, t, dx)
	case class.Direct:
		c.chains(back, w, byDirect, dy, t, dx)
	case class.Winograd4, class.Winograd2, class.Winograd5:
		c.winograd(back, tilesOf(back, algorithm), w, backwards, dy, t, dx)
	default:
		b, sh, sw := blockOf(l.C/l.Groups), l.Stride[0], l.Stride[1]
		n := ((l.H + sh - 1) / sh) * ((l.W + sw - 1) / sw)
		c.product(b, "back_block", dx.Kind, b.rowBlocks(l.Groups, l.C)*sh*sw, n, append([]any{dy, t.weight, t.bias,
			dx, c.geometry(l, weights{}, byWindow), dy.count, t.biased}, c.epilogue(1)...)...)
	}
}
