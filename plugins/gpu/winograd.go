package gpu

import (
	"strconv"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// tiled reports whether an algorithm has tiles.
func tiled(a class.Algorithm) bool { return a == class.Winograd4 || a == class.Winograd2 }

// tiles is a convolution of 3 by 3 by tiles of side by side outputs, of each of its phases.
type tiles struct {
	class.Tiles
	phase         class.Layer
	phases        int
	rows, columns int // of tiles in a phase
	frequencies   int
}

// tilesOf returns the tiles of a layer that has some.
func tilesOf(l class.Layer, algorithm class.Algorithm) tiles {
	t := tiles{Tiles: class.Tiles{Side: 4}, phase: l.Phase(), phases: l.Dilation[0] * l.Dilation[1]}
	if algorithm == class.Winograd2 {
		t.Side = 2
	}
	t.rows, t.columns = (t.phase.OH+t.Side-1)/t.Side, (t.phase.OW+t.Side-1)/t.Side
	t.frequencies = t.Tile() * t.Tile()
	return t
}

// winograd launches a convolution by tiles. Those whose operands lie too far
// apart are computed by chains of this order: flags on the device say which, and
// the host reads none.
func (c *compiler) winograd(l class.Layer, t tiles, w weights, order int, x *value, f filter, y *value) {
	table, side := c.geometry(l, w, order), strconv.Itoa(t.Side)
	u, even, apart := c.private(4*t.frequencies*l.C*l.O), c.private(4*l.O), c.private(4)
	c.once(f.of, func() {
		c.launch("winograd_weights"+side, graph.Whole, l.C*l.O, f.weight, u, table, l.C*l.O)
		c.launch("winograd_even", graph.Whole, l.O, f.weight, even, table, l.O)
		c.launch("winograd_apart", graph.Whole, 1, even, apart, 1, l.O)
	})
	count, blocks := t.phases*t.rows*t.columns, t.phases*(t.phase.H/2+1)*(t.phase.W/2+1)
	v := c.temp(y.Kind, 4*t.frequencies*l.C*count)
	m := c.temp(y.Kind, 4*t.frequencies*l.O*count)
	sums, most := c.temp(y.Kind, 4*blocks), c.temp(y.Kind, 4*blocks)
	suspect := c.temp(y.Kind, 4*count)
	c.launch("winograd_blocks", y.Kind, blocks, x, sums, most, table, blocks)
	c.launch("winograd_suspects", y.Kind, count, sums, most, suspect, table, count, t.Side, t.columns)
	c.launch("winograd_input"+side, y.Kind, l.C*count, x, v, apart, table, l.C*count, t.columns, count)
	b := blockOf(l.O)
	c.product(b, "winograd_product", y.Kind, t.frequencies*b.high(1, l.O), count, v, u, m, apart, l.C, l.O,
		count, t.frequencies, t.Block(l.C))
	c.launch("winograd_output"+side, y.Kind, l.O*count, m, f.bias, y, apart, suspect, table, l.O*count,
		t.columns, count, f.biased)
	c.launch("winograd_direct", y.Kind, y.count, x, f.weight, f.bias, y, apart, suspect, table, y.count, t.Side,
		t.columns, count, f.biased)
}
