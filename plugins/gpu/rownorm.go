package gpu

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// rowNormOps normalise each row separately (device/class/rownorm.go).
var rowNormOps = map[graph.Op]func(c *compiler){
	graph.LayerNorm:     buildLayerNorm,
	graph.LayerNormGrad: buildLayerNormGrad,
	graph.GroupNorm:     buildGroupNorm,
	graph.GroupNormGrad: buildGroupNormGrad,
}

// scaleAndBias returns operands 1 and 2 and whether they are present. An absent operand is replaced by
// x, which is not read.
func (c *compiler) scaleAndBias() (scale, bias *value, scaled, shifted int) {
	scale, bias = c.in(0), c.in(0)
	if v := c.in(1); v != nil {
		scale, scaled = v, 1
	}
	if v := c.in(2); v != nil {
		bias, shifted = v, 1
	}
	return scale, bias, scaled, shifted
}

func buildLayerNorm(c *compiler) {
	x, y, eps := c.in(0), c.out(0), c.node.Float("eps")
	length, step := c.node.Lines(x.Shape)
	scale, bias, scaled, shifted := c.scaleAndBias()
	lines := x.count / length
	a := c.affine(graph.Rows, lines)
	if step == 1 && length <= class.SpanPositions {
		blocks := blocksOf(length)
		c.launch("row_affine", graph.Rows, spanThreads(lines, grouped/blocks), x, a, lines, length, blocks, eps)
	} else {
		c.launch("line_affine", graph.Rows, lines, x, a, lines, length, step, eps)
	}
	c.launch("line_normalise", graph.Rows, y.count, x, a, scale, bias, y, y.count, length, step, scaled,
		shifted)
}

func buildLayerNormGrad(c *compiler) {
	x, dy, dx, eps := c.in(0), c.in(1), c.out(0), c.node.Float("eps")
	length, step := c.node.Lines(x.Shape)
	lines := x.count / length
	a := c.affine(graph.Rows, lines)
	if step == 1 && length <= class.SpanPositions {
		blocks := blocksOf(length)
		c.launch("row_gradient", graph.Rows, spanThreads(lines, grouped/blocks), x, dy, a, lines, length, blocks,
			eps)
	} else {
		c.launch("line_gradient", graph.Rows, lines, x, dy, a, lines, length, step, eps)
	}
	c.launch("line_back", graph.Rows, dx.count, x, dy, a, dx, dx.count, length, step)
}

// channelMoments launches the kernels that compute the moments of each channel of each row.
func (c *compiler) channelMoments(x *value) (m *slot, channels, size int) {
	channels = x.channels()
	m = c.temp(graph.Rows, 3*8*channels)
	c.launch("channel_moments", graph.Rows, channels, x, m, channels, x.positions())
	return m, channels, channels / c.node.Int("groups")
}

func buildGroupNorm(c *compiler) {
	x, y, eps := c.in(0), c.out(0), c.node.Float("eps")
	m, channels, size := c.channelMoments(x)
	scale, bias, scaled, shifted := c.scaleAndBias()
	a := c.affine(graph.Rows, channels)
	c.launch("group_affine", graph.Rows, channels, m, scale, bias, a, channels, size, scaled, shifted,
		eps)
	c.launch("normalise", graph.Rows, y.count, append([]any{x, a, y, y.count, ofSame, channels},
		c.epilogue(1)...)...)
}

func buildGroupNormGrad(c *compiler) {
	x, dy, dx, eps := c.in(0), c.in(1), c.out(0), c.node.Float("eps")
	m, channels, size := c.channelMoments(x)
	sums, a := c.temp(graph.Rows, 2*8*channels), c.affine(graph.Rows, channels)
	c.launch("group_sums", graph.Rows, channels, x, dy, m, sums, channels, x.positions(), size)
	c.launch("group_gradient", graph.Rows, channels, m, sums, a, channels, size, eps)
	c.launch("normalise_back", graph.Rows, dx.count, x, dy, a, dx, c.exe.owner, dx.count, ofSame, channels)
}
