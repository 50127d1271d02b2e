package cpu

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// productOps are the convolutions and dense products.
var productOps = map[graph.Op]func(c *compiler) action{
	graph.Conv:            buildConv,
	graph.ConvGradInput:   buildConvGradInput,
	graph.ConvGradWeight:  buildConvGradWeight,
	graph.ConvTranspose:   buildConvTranspose,
	graph.Dense:           buildDense,
	graph.DenseGradInput:  buildDenseGradInput,
	graph.DenseGradWeight: buildDenseGradWeight,
}

// geometryOf returns the geometry of the current node with this input and output;
// nil after it has refused the node.
func (c *compiler) geometryOf(in, out []int) *conv {
	g := newConv(c.fn.WindowOf(c.node), in, out)
	if why := g.tooLarge(); why != "" {
		c.no(why)
		return nil
	}
	return g
}

// key tells geometries apart whose packed weights differ.
func (g *conv) key(what string) string { return fmt.Sprint(what, g.Window, g.c, g.h, g.w, g.o) }

func buildConv(c *compiler) action {
	x, y, filter := c.in(0), c.out(0), c.filterOf()
	g := c.geometryOf(x.Shape, y.Shape)
	switch {
	case g == nil:
		return action{}
	case g.depthwise():
		return c.buildDepthwise(g, x, filter, y)
	case g.narrow() && c.byPairs(g.evenChannels().c):
		return c.buildNarrowPairs(g, x, filter, y)
	case g.narrow():
		return c.buildNarrow(g, x, filter, y)
	case g.strips(c.kernels) && !c.byPairs(g.cg):
		return c.buildStrip(g, x, filter, y, false)
	case g.strips(c.kernels) && !c.byMatrix(g, g.cg, g.og):
		return c.buildStripPairs(g, x, filter, y, false)
	}
	t, tiles := c.tilesOf(g)
	if c.byPairs(g.cg) && !tiles {
		p := c.pairsFor(filter, g.key("conv"), g.forwardParts, c.byMatrix(g, g.cg, g.og))
		return c.buildPairs(g, p, x, filter, y)
	}
	product := newProduct(c.packFor(filter, g.key("conv"), g.forwardParts), filter)
	if tiles {
		return c.buildWinograd(g, t, product, x, y, false)
	}
	if c.byMatrix(g, g.cg, g.og) {
		product = c.withMatrix(product, g.key("conv"))
	}
	a := c.productAction(g, product, x, y)
	if !a.pointwise {
		a.needs = g.needs
	}
	return a
}

// forwardParts returns the windows of the convolution itself, one for each group.
func (g *conv) forwardParts() (parts []packPart) {
	w := g.forward()
	for i := range g.Groups {
		at, step := g.forwardAt(i)
		parts = append(parts, packPart{window: w, at: at, step: step, in: i * g.cg, out: i * g.og})
	}
	return parts
}

// rowOf returns the operands of row i of the current node's product.
func (c *compiler) rowOf(x, y *value) func(f *frame, w *worker, i int) operands {
	ending := c.ending()
	return func(f *frame, w *worker, i int) operands {
		return operands{f.at(y, w, i), f.at(x, w, i), ending.row(f, w, i)}
	}
}

// rowsOf returns the operands of all rows of the current node's product.
func (c *compiler) rowsOf(x, y *value) func(f *frame) operands {
	ending := c.ending()
	return func(f *frame) operands { return operands{f.f32(y), f.f32(x), ending.rows(f)} }
}

// productAction packs the weights, if they have changed, and computes y.
func (c *compiler) productAction(g *conv, p *product, x, y *value) action {
	if p.heavy() {
		rows := c.rowsOf(x, y)
		return whole(func(f *frame) error {
			p.apply(f, rows(f), x.count, y.count)
			return nil
		}).after(p.prepare)
	}
	row := c.rowOf(x, y)
	a := action{prepare: p.prepare, work: p.work(), row: func(f *frame, w *worker, i, piece, pieces int) {
		p.row(f, w, row(f, w, i), piece, pieces)
	}}
	if p.alike() {
		a.span = func(f *frame, w *worker, i, from, to int) { p.span(f, w, row(f, w, i), from, to) }
		a.positions, a.step, a.width, a.pointwise = y.positions, p.step(), y.channels, g.pointwise()
		a.rings = p.matrix == nil
		c.after = append(c.after, func() { p.wrap(x, y) })
	}
	return a
}

// pointwise reports whether a position of the result depends on the same
// position of the input alone.
func (g *conv) pointwise() bool {
	return g.taps == 1 && g.Stride == [2]int{1, 1} && g.Pad == [4]int{}
}

// buildNarrow is a convolution over padded images.
func (c *compiler) buildNarrow(g *conv, x *value, t *filter, y *value) action {
	p := newProduct(c.packFor(t, g.key("narrow"), func() []packPart {
		at, step := g.narrowAt()
		return []packPart{{window: g.narrowForward(), at: at, step: step}}
	}), t)
	c.after = append(c.after, func() { p.wrap(nil, y) })
	row := c.rowOf(x, y)
	return bySpan(action{prepare: p.prepare, work: p.work(), positions: y.positions, step: g.ow,
		width: y.channels, needs: g.needs, rings: true, span: func(f *frame, w *worker, i, from, to int) {
			o := row(f, w, i)
			o.in = g.paddedRows(w, o.in, x.ringRows(), from/g.ow, (to-1)/g.ow)
			p.span(f, w, o, from, to)
		}})
}

func buildConvGradInput(c *compiler) action {
	dy, weight, dx := c.in(0), c.in(1), c.out(0)
	g := c.geometryOf(dx.Shape, dy.Shape)
	if g == nil {
		return action{}
	}
	return c.backward(g, dy, plain(weight), dx)
}

func buildConvTranspose(c *compiler) action {
	x, y := c.in(0), c.out(0)
	g := c.geometryOf(y.Shape, x.Shape)
	if g == nil {
		return action{}
	}
	return c.backward(g, x, c.filterOf(), y)
}

// backward is the gradient for the input, and the transposed convolution.
func (c *compiler) backward(g *conv, dy *value, t *filter, dx *value) action {
	if g.depthwise() {
		return c.buildDepthwiseBackward(g, dy, t, dx)
	}
	back, stride1 := g.flipped()
	strips := stride1 && back.strips(c.kernels)
	switch {
	case strips && !c.byPairs(g.og):
		return c.buildStrip(back, dy, t, dx, true)
	case strips && !c.byMatrix(g, g.og, g.cg):
		return c.buildStripPairs(back, dy, t, dx, true)
	}
	var tiles kernel.Winograd
	byTiles := false
	if stride1 {
		tiles, byTiles = c.tilesOf(back)
	}
	if c.byPairs(g.og) && !byTiles {
		p := c.pairsFor(t, g.key("backward"), g.backwardParts, c.byMatrix(g, g.og, g.cg))
		return c.buildPairs(g, p, dy, t, dx)
	}
	p := newProduct(c.packFor(t, g.key("backward"), g.backwardParts), t)
	if byTiles {
		return c.buildWinograd(back, tiles, p, dy, dx, true)
	}
	if c.byMatrix(g, g.og, g.cg) {
		p = c.withMatrix(p, g.key("backward"))
	}
	return c.productAction(g, p, dy, dx)
}

// backwardParts returns the windows of the gradient for the input, one for each
// phase and group.
func (g *conv) backwardParts() (parts []packPart) {
	for _, f := range g.backward() {
		for i := range g.Groups {
			at, step := g.backwardAt(f, i)
			parts = append(parts, packPart{window: f.window, at: at, step: step, in: i * g.og, out: i * g.cg})
		}
	}
	return parts
}

// positionStep is the positions of the largest tile of a window.
const positionStep = kernel.WindowPositions
