package gpu

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// weightsByTiles computes the weight gradient of each chunk of a partition by tiles. The device selects
// the part that chains must compute instead. It is an input channel if one of its values is much larger
// than the others. It is everything if there are too many of these channels, if a value of the gradient
// is much larger than the others, or if there are few tiles.
func (c *compiler) weightsByTiles(l class.Layer, t tiles, k *partition, x, dy *value, p *slot) {
	table, suffix := c.geometry(l, weights{}, byWindow), t.suffix()
	count, pairs := t.rows*t.columns, l.C*l.O
	v, d := c.temp(graph.Rows, 4*36*l.C*count), c.temp(graph.Rows, 4*36*l.O*count)
	ofX, ofDy, apart := c.chunkSlot(k, 4*l.C), c.chunkSlot(k, 4*l.O), c.chunkSlot(k, 4)
	sums, never := c.chunkSlot(k, 4*36*pairs), c.table([]int{0})
	c.launch("winograd_input"+suffix, graph.Rows, l.C*count, x, v, never, table, l.C*count, t.columns, count)
	c.launch("winograd_points"+suffix, graph.Rows, l.O*count, dy, d, table, l.O*count, t.columns, count)
	c.launchChunks(k, "channel_uneven", l.C, x, ofX, k.table, l.C, l.H, l.W, t.Side)
	c.launchChunks(k, "channel_uneven", l.O, dy, ofDy, k.table, l.O, l.OH, l.OW, t.Side)
	c.launchChunks(k, "gradient_apart", 1, ofX, ofDy, apart, k.table, 1, l.C, l.O, count, t.MinTiles())
	b := block{64, 128}
	n, chain := 36*b.rowBlocks(1, l.O)*b.columnBlocks(l.C)*Threads, t.ChainRows(t.columns)*t.columns
	if chain == 0 {
		c.launchChunks(k, "winograd_sums"+suffix, n, v, d, sums, apart, k.table, l.C, l.O, count)
	} else {
		c.launchChunks(k, "winograd_sums"+suffix, n, v, d, sums, apart, k.table, l.C, l.O, count, chain)
	}
	c.launchChunks(k, "winograd_taps"+suffix, pairs, sums, p, apart, ofX, pairs, l.C)
	c.launchChunks(k, "conv_weights_rest", t.Taps()*pairs, x, dy, p, apart, ofX, k.table, table, t.Taps()*pairs)
}
