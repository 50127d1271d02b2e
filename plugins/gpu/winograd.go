package gpu

import (
	"strconv"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// tiled reports whether an algorithm computes by Winograd tiles.
func tiled(a class.Algorithm) bool { return a.Tiles().Side > 0 }

// tiles describes a convolution by Winograd tiles, and the tiles of each of its phases.
type tiles struct {
	class.Tiles
	phase         class.Layer
	phases        int
	rows, columns int // numbers of rows and of columns of tiles in a phase
	frequencies   int
}

// tilesOf returns the tiles of a layer with a tiled algorithm.
func tilesOf(l class.Layer, algorithm class.Algorithm) tiles {
	t := tiles{Tiles: algorithm.Tiles(), phase: l.Phase(), phases: l.Dilation[0] * l.Dilation[1]}
	t.rows, t.columns = (t.phase.OH+t.Side-1)/t.Side, (t.phase.OW+t.Side-1)/t.Side
	t.frequencies = t.Tile() * t.Tile()
	return t
}

// suffix returns the end of the names of the kernels for these tiles.
func (t tiles) suffix() string {
	if t.Kernel == 5 {
		return "5"
	}
	return strconv.Itoa(t.Side)
}

// winograd launches a convolution by tiles. Chains in the given order compute the tiles with
// operands that differ too much in magnitude. Flags on the device select these tiles; the host does
// not read the flags.
func (c *compiler) winograd(l class.Layer, t tiles, w weights, order int, x *value, f filter, y *value) {
	table, suffix := c.geometry(l, w, order), t.suffix()
	u, even, apart := c.private(4*t.frequencies*l.C*l.O), c.private(4*l.O), c.private(4)
	c.launchOnChange(f.of, func() {
		c.launch("winograd_weights"+suffix, graph.Whole, l.C*l.O, f.weight, u, table, l.C*l.O)
		c.launch("winograd_even", graph.Whole, l.O, f.weight, even, table, l.O)
		c.launch("winograd_apart", graph.Whole, 1, even, apart, 1, l.O)
	})
	count, blocks := t.phases*t.rows*t.columns, t.phases*t.BlockCount(t.phase.H)*t.BlockCount(t.phase.W)
	v := c.temp(y.Kind, 4*t.frequencies*l.C*count)
	m := c.temp(y.Kind, 4*t.frequencies*l.O*count)
	sums, most := c.temp(y.Kind, 4*blocks), c.temp(y.Kind, 4*blocks)
	suspect := c.temp(y.Kind, 4*count)
	c.launch("winograd_blocks", y.Kind, blocks, x, sums, most, table, blocks)
	c.launch("winograd_suspects", y.Kind, count, sums, most, suspect, table, count, t.Side, t.columns)
	c.launch("winograd_input"+suffix, y.Kind, l.C*count, x, v, apart, table, l.C*count, t.columns, count)
	b := blockOf(l.O)
	c.product(b, "winograd_product", y.Kind, t.frequencies*b.rowBlocks(1, l.O), count, v, u, m, apart, l.C, l.O,
		count, t.frequencies, t.Block(l.C))
	last := c.epilogue(1)
	c.launch("winograd_output"+suffix, y.Kind, l.O*count, append([]any{m, f.bias, y, apart, suspect, table,
		l.O * count, t.columns, count, f.biased}, last...)...)
	c.launch("winograd_direct", y.Kind, y.count, append([]any{x, f.weight, f.bias, y, apart, suspect, table,
		y.count, t.Side, t.columns, count, f.biased}, last...)...)
}
