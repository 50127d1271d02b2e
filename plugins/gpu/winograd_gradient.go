package gpu

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// weightsByTiles gives the weight gradient of every part of a cut by tiles of 4 by
// 4. What chains must compute instead, the device finds: an input channel in which
// a value outweighs the others, or all if too many do or one of the gradient's does.
func (c *compiler) weightsByTiles(l class.Layer, k *cut, x, dy *value, p *room) {
	rows, columns, table := (l.OH+3)/4, (l.OW+3)/4, c.geometry(l, weights{}, byWindow)
	tiles, pairs := rows*columns, l.C*l.O
	v, d := c.temp(graph.Rows, 4*36*l.C*tiles), c.temp(graph.Rows, 4*36*l.O*tiles)
	ofX, ofDy, apart := c.parts(k, 4*l.C), c.parts(k, 4*l.O), c.parts(k, 4)
	sums, never := c.parts(k, 4*36*pairs), c.table([]int{0})
	c.launch("winograd_input4", graph.Rows, l.C*tiles, x, v, never, table, l.C*tiles, columns, tiles)
	c.launch("winograd_points", graph.Rows, l.O*tiles, dy, d, table, l.O*tiles, columns, tiles)
	c.each(k, "channel_uneven", l.C, x, ofX, k.table, l.C, l.H, l.W)
	c.each(k, "channel_uneven", l.O, dy, ofDy, k.table, l.O, l.OH, l.OW)
	c.each(k, "gradient_apart", 1, ofX, ofDy, apart, 1, l.C, l.O)
	b := block{64, 128}
	n := 36 * b.high(1, l.O) * b.wide(l.C) * Threads
	c.each(k, "winograd_sums", n, v, d, sums, apart, k.table, l.C, l.O, tiles)
	c.each(k, "winograd_taps", pairs, sums, p, apart, ofX, pairs, l.C)
	c.each(k, "conv_weights_rest", 9*pairs, x, dy, p, apart, ofX, k.table, table, 9*pairs)
}
