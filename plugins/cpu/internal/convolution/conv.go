package convolution

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// Ops are the convolutions and dense products.
var Ops = map[graph.Op]func(c *run.Compiler) run.Action{
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
func geometryOf(c *run.Compiler, in, out []int) *Geometry {
	g := NewGeometry(c.Fn.WindowOf(c.Node), in, out)
	if why := g.TooLarge(); why != "" {
		c.Refuse(why)
		return nil
	}
	return g
}

// key tells geometries apart whose packed weights differ.
func (g *Geometry) key(what string) string { return fmt.Sprint(what, g.Window, g.c, g.h, g.w, g.o) }

func buildConv(c *run.Compiler) run.Action {
	x, y, filter := c.In(0), c.Out(0), filterOf(c)
	g := geometryOf(c, x.Shape, y.Shape)
	switch {
	case g == nil:
		return run.Action{}
	case g.depthwise():
		return buildDepthwise(c, g, x, filter, y)
	case g.narrow() && byPairs(c, g.evenChannels().c):
		return buildNarrowPairs(c, g, x, filter, y)
	case g.narrow():
		return buildNarrow(c, g, x, filter, y)
	case g.strips(c.Kernels) && !byPairs(c, g.cg):
		return buildStrip(c, g, x, filter, y, false)
	case g.strips(c.Kernels) && !byMatrix(c, g, g.cg, g.og):
		return buildStripPairs(c, g, x, filter, y, false)
	}
	t, tiles := tilesOf(c, g)
	if byPairs(c, g.cg) && !tiles {
		p := pairsFor(c, filter, g.key("conv"), g.forwardParts, byMatrix(c, g, g.cg, g.og))
		return buildPairs(c, g, p, x, filter, y)
	}
	product := newProduct(packFor(c, filter, g.key("conv"), g.forwardParts), filter)
	if tiles {
		return buildWinograd(c, g, t, product, x, y, false)
	}
	if byMatrix(c, g, g.cg, g.og) {
		product = withMatrix(c, product, g.key("conv"))
	}
	a := productAction(c, g, product, x, y)
	if !a.Pointwise {
		a.Needs = g.Needs
	}
	return a
}

// forwardParts returns the windows of the convolution itself, one for each group.
func (g *Geometry) forwardParts() (parts []packPart) {
	w := g.forward()
	for i := range g.Groups {
		at, step := g.forwardAt(i)
		parts = append(parts, packPart{window: w, at: at, step: step, in: i * g.cg, out: i * g.og})
	}
	return parts
}

// rowOf returns the operands of row i of the current node's product.
func rowOf(c *run.Compiler, x, y *run.Value) func(f *run.Frame, w *run.Worker, i int) operands {
	ending := c.Ending()
	return func(f *run.Frame, w *run.Worker, i int) operands {
		return operands{f.At(y, w, i), f.At(x, w, i), ending.Row(f, w, i)}
	}
}

// rowsOf returns the operands of all rows of the current node's product.
func rowsOf(c *run.Compiler, x, y *run.Value) func(f *run.Frame) operands {
	ending := c.Ending()
	return func(f *run.Frame) operands { return operands{f.F32(y), f.F32(x), ending.Rows(f)} }
}

// productAction packs the weights, if they have changed, and computes y.
func productAction(c *run.Compiler, g *Geometry, p *product, x, y *run.Value) run.Action {
	if p.heavy() {
		rows := rowsOf(c, x, y)
		return run.Whole(func(f *run.Frame) error {
			p.apply(f, rows(f), x.Count, y.Count)
			return nil
		}).After(p.prepare)
	}
	row := rowOf(c, x, y)
	a := run.Action{Prepare: p.prepare, Work: p.work(),
		Row: func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
			p.row(f, w, row(f, w, i), piece, pieces)
		}}
	if p.alike() {
		a.Span = func(f *run.Frame, w *run.Worker, i, from, to int) { p.span(f, w, row(f, w, i), from, to) }
		a.Positions, a.Step, a.Width, a.Pointwise = y.Positions, p.step(), y.Channels, g.pointwise()
		a.Rings = p.matrix == nil
		c.After = append(c.After, func() { p.wrap(x, y) })
	}
	return a
}

// pointwise reports whether a position of the result depends on the same
// position of the input alone.
func (g *Geometry) pointwise() bool {
	return g.taps == 1 && g.Stride == [2]int{1, 1} && g.Pad == [4]int{}
}

// buildNarrow is a convolution over padded images.
func buildNarrow(c *run.Compiler, g *Geometry, x *run.Value, t *filter, y *run.Value) run.Action {
	p := newProduct(packFor(c, t, g.key("narrow"), func() []packPart {
		at, step := g.narrowAt()
		return []packPart{{window: g.narrowForward(), at: at, step: step}}
	}), t)
	c.After = append(c.After, func() { p.wrap(nil, y) })
	row := rowOf(c, x, y)
	return run.BySpan(run.Action{Prepare: p.prepare, Work: p.work(), Positions: y.Positions, Step: g.ow,
		Width: y.Channels, Needs: g.Needs, Rings: true, Span: func(f *run.Frame, w *run.Worker, i, from, to int) {
			o := row(f, w, i)
			o.in = g.paddedRows(w, o.in, x.RingRows(), from/g.ow, (to-1)/g.ow)
			p.span(f, w, o, from, to)
		}})
}

func buildConvGradInput(c *run.Compiler) run.Action {
	dy, weight, dx := c.In(0), c.In(1), c.Out(0)
	g := geometryOf(c, dx.Shape, dy.Shape)
	if g == nil {
		return run.Action{}
	}
	return backward(c, g, dy, plain(weight), dx)
}

func buildConvTranspose(c *run.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	g := geometryOf(c, y.Shape, x.Shape)
	if g == nil {
		return run.Action{}
	}
	return backward(c, g, x, filterOf(c), y)
}

// backward is the gradient for the input, and the transposed convolution.
func backward(c *run.Compiler, g *Geometry, dy *run.Value, t *filter, dx *run.Value) run.Action {
	if g.depthwise() {
		return buildDepthwiseBackward(c, g, dy, t, dx)
	}
	back, stride1 := g.flipped()
	strips := stride1 && back.strips(c.Kernels)
	switch {
	case strips && !byPairs(c, g.og):
		return buildStrip(c, back, dy, t, dx, true)
	case strips && !byMatrix(c, g, g.og, g.cg):
		return buildStripPairs(c, back, dy, t, dx, true)
	}
	var tiles kernel.Winograd
	byTiles := false
	if stride1 {
		tiles, byTiles = tilesOf(c, back)
	}
	if byPairs(c, g.og) && !byTiles {
		p := pairsFor(c, t, g.key("backward"), g.backwardParts, byMatrix(c, g, g.og, g.cg))
		return buildPairs(c, g, p, dy, t, dx)
	}
	p := newProduct(packFor(c, t, g.key("backward"), g.backwardParts), t)
	if byTiles {
		return buildWinograd(c, back, tiles, p, dy, dx, true)
	}
	if byMatrix(c, g, g.og, g.cg) {
		p = withMatrix(c, p, g.key("backward"))
	}
	return productAction(c, g, p, dy, dx)
}

// backwardParts returns the windows of the gradient for the input, one for each
// phase and group.
func (g *Geometry) backwardParts() (parts []packPart) {
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
