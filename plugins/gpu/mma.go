package gpu

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// Numbers of kernels/92_int8_mma.cl.
const (
	termsOfBundle   = 16
	bundlesOfChunk  = 4
	stepsOfChunk    = bundlesOfChunk / 2
	wordsOfTilePair = 4 * 32 // words of 16 channels for one step
	fewChannels     = 4      // up to that number of channels, a bundle is four taps
)

// matrixUnits reports whether a layer is computed by matrix units: if the device has them and the layer has
// one group. Layers with groups, which have short sums, are left to the other kernels.
func (c *compiler) matrixUnits(l class.Layer) bool {
	return l.Groups == 1 && c.exe.backend.driver.Has("conv_int8_mma64")
}

// sumsInt8ByUnits lowers the current node, a convolution or dense layer of bytes, for matrix units. rounding
// has the last arguments of the kernel.
func (c *compiler) sumsInt8ByUnits(l class.Layer, geometry *constant, rounding []any) {
	x, weight, bias, by, y := c.in(0), c.in(1), c.in(2), c.in(3), c.out(0)
	taps, few, kernel := l.Kernel[0]*l.Kernel[1], 0, "conv_int8_mma"
	across := (l.C + termsOfBundle - 1) / termsOfBundle
	bundles := taps * across
	if l.C <= fewChannels {
		few, kernel, bundles = 1, "first_int8_mma", (taps+3)/4
	}
	b := blockOf(l.O)
	steps := (bundles + bundlesOfChunk - 1) / bundlesOfChunk * stepsOfChunk
	words := b.rowBlocks(1, l.O) * b.rows / 16 * steps * wordsOfTilePair
	packed, start := c.private(4*words), c.private(4*l.O)
	c.launchOnChange([]*value{weight, bias}, func() {
		c.launch("weights_int8", graph.Whole, words, weight, packed, words, l.O, l.C, taps, few, steps)
		c.launch("start_int8", graph.Whole, l.O, weight, bias, start, l.O, l.C*taps, c.node.Int("x_zero"))
	})
	args := append([]any{c.bundled(l, x), packed, start, by, y, y, geometry}, rounding...)
	c.product(b, kernel, y.Kind, b.rowBlocks(1, l.O), l.OH*l.OW, args...)
}

// bundled returns the map x in bundles of 16 bytes, or in quads if a layer has few channels. It adds the
// launch that makes them.
func (c *compiler) bundled(l class.Layer, x *value) any {
	plane := l.H * l.W
	if l.C <= fewChannels {
		quads := c.temp(x.Kind, 4*plane)
		c.launch("quad_int8", x.Kind, plane, x, quads, plane, l.C)
		return quads
	}
	if plane == 1 && l.C%termsOfBundle == 0 {
		return x // each row has its channels one after the other
	}
	n := (l.C + termsOfBundle - 1) / termsOfBundle * plane
	made := c.temp(x.Kind, termsOfBundle*n)
	c.launch("bundle_int8", x.Kind, n, x, made, n, l.C, plane)
	return made
}
