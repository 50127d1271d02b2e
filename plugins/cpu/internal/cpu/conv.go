package cpu

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
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

// conv returns the geometry of the current node with this input and output;
// nil after it has refused the node.
func (c *compiler) conv(in, out []int) *conv {
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
	x, weight, bias, y := c.in(0), c.in(1), c.in(2), c.out(0)
	g := c.conv(x.Shape, y.Shape)
	switch {
	case g == nil:
		return action{}
	case g.depthwise():
		return c.buildDepthwise(g, x, weight, bias, y)
	case g.narrow():
		return c.buildNarrow(g, x, weight, bias, y)
	case g.strips(c.exe.device.kernels):
		return c.buildStrip(g, x, weight, bias, y, false)
	}
	p := c.packFor(weight, g.key("conv"), func() (parts []packPart) {
		w := g.forward()
		for i := range g.Groups {
			at, step := g.forwardAt(i)
			parts = append(parts, packPart{window: w, at: at, step: step})
		}
		return parts
	})
	product := newProduct(p, shifts(g.Groups, g.cg), shifts(g.Groups, g.og))
	if t, ok := g.byTiles(c.exe.device.kernels); ok {
		return c.buildWinograd(g, t, product, x, weight, bias, y, false)
	}
	return g.productAction(product, x, weight, bias, y)
}

// shifts returns where each of n groups of channels begins.
func shifts(n, channels int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i * channels
	}
	return s
}

// productAction packs the weights, if they have changed, and computes y.
func (g *conv) productAction(p *product, x, weight, bias, y *value) action {
	prepare := func(f *frame) error {
		p.fill(f, weight)
		if bias != nil {
			p.setBias(f.f32(bias))
		}
		return nil
	}
	if p.heavy() {
		return whole(func(f *frame) error {
			p.apply(f, f.f32(x), f.f32(y), x.count, y.count)
			return nil
		}).after(prepare)
	}
	a := action{prepare: prepare, work: p.work(), row: func(f *frame, w *worker, i, piece, pieces int) {
		p.row(f, w, f.at(y, w, i), f.at(x, w, i), piece, pieces)
	}}
	if p.alike() {
		a.span = func(f *frame, w *worker, i, from, to int) { p.span(f, w, f.at(y, w, i), f.at(x, w, i), from, to) }
		a.positions, a.step, a.width, a.pointwise = y.positions, positionStep, y.channels, g.pointwise()
	}
	return a
}

// pointwise reports whether a position of the result depends on the same
// position of the input alone.
func (g *conv) pointwise() bool {
	return g.taps == 1 && g.Stride == [2]int{1, 1} && g.Pad == [4]int{}
}

// buildNarrow is a convolution over padded images.
func (c *compiler) buildNarrow(g *conv, x, weight, bias, y *value) action {
	p := c.packFor(weight, g.key("narrow"), func() []packPart {
		at, step := g.narrowAt()
		return []packPart{{window: g.narrowForward(), at: at, step: step}}
	})
	product := newProduct(p, []int{0}, []int{0})
	prepare := func(f *frame) error {
		p.fill(f, weight)
		if bias != nil {
			product.setBias(f.f32(bias))
		}
		return nil
	}
	return bySpan(action{prepare: prepare, work: product.work(), positions: y.positions, step: g.ow,
		width: y.channels, span: func(f *frame, w *worker, i, from, to int) {
			product.span(f, w, f.at(y, w, i), g.paddedRows(w, f.at(x, w, i), from/g.ow, (to-1)/g.ow), from, to)
		}})
}

func buildConvGradInput(c *compiler) action {
	dy, weight, dx := c.in(0), c.in(1), c.out(0)
	g := c.conv(dx.Shape, dy.Shape)
	if g == nil {
		return action{}
	}
	return c.backward(g, dy, weight, nil, dx)
}

func buildConvTranspose(c *compiler) action {
	x, weight, bias, y := c.in(0), c.in(1), c.in(2), c.out(0)
	g := c.conv(y.Shape, x.Shape)
	if g == nil {
		return action{}
	}
	return c.backward(g, x, weight, bias, y)
}

// backward is the gradient for the input, and the transposed convolution.
func (c *compiler) backward(g *conv, dy, weight, bias, dx *value) action {
	if g.depthwise() {
		return c.buildDepthwiseBackward(g, dy, weight, bias, dx)
	}
	if back, ok := g.flipped(); ok && back.strips(c.exe.device.kernels) {
		return c.buildStrip(back, dy, weight, bias, dx, true)
	}
	var inShift, outShift []int
	p := c.packFor(weight, g.key("backward"), func() (parts []packPart) {
		for _, f := range g.backward() {
			for i := range g.Groups {
				at, step := g.backwardAt(f, i)
				parts = append(parts, packPart{window: f.window, at: at, step: step})
			}
		}
		return parts
	})
	for i := range p.parts {
		inShift, outShift = append(inShift, i%g.Groups*g.og), append(outShift, i%g.Groups*g.cg)
	}
	product := newProduct(p, inShift, outShift)
	if back, ok := g.flipped(); ok {
		if t, ok := back.byTiles(c.exe.device.kernels); ok {
			return c.buildWinograd(back, t, product, dy, weight, bias, dx, true)
		}
	}
	return g.productAction(product, dy, weight, bias, dx)
}
