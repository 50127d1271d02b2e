package convolution

import (
	"fmt"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// key returns a text that differs for geometries that need different packed weights.
func (g *Geometry) key(what string) string { return fmt.Sprint(what, g.Window, g.c, g.h, g.w, g.o) }

// A convolution has a section for each group. All sections have the same window, and begin at the group's
// first channels of the image, the result and the weights.
//
//	image pixel    | group 0: cg values | group 1: cg values |
//	result pixel   | group 0: og values | group 1: og values |

// buildConv builds the convolution itself, by the algorithm of its layer.
func buildConv(c *plan.Compiler) run.Action {
	if g := geometryOf(c); g != nil {
		return forward(c, g, c.In(0), filterOf(c), c.Out(0))
	}
	return nil
}

// forward compiles a convolution, or a dense layer with leading axes.
func forward(c *plan.Compiler, g *Geometry, x *run.Value, filter *filter, y *run.Value) run.Action {
	switch algorithm := choose(c); algorithm {
	case class.Depthwise:
		return buildDepthwise(c, g, x, filter, y)
	case class.DepthwiseRows:
		return buildDepthwiseRows(c, g, x, filter, y, false)
	case class.Direct:
		return buildDirect(c, g, x, filter, y, false)
	case class.DirectDot2:
		return buildDirectDot2(c, g, x, filter, y, false)
	case class.Dot2:
		if g.narrow() {
			return buildNarrowDot2(c, g, x, filter, y)
		}
		return buildDot2(c, g, dot2For(c, filter, g.key("conv"), g.forwardSections, false), x, filter, y)
	case class.Winograd2, class.Winograd4, class.Winograd5:
		product := newProduct(packFor(c, filter, g.key("conv"), g.forwardSections), filter)
		return buildWinograd(c, g, g.tiles(algorithm), product, x, y, false)
	case class.Matrix:
		return aheadOf(buildMatrix(c, g, "conv", g.forwardSections, x, filter, y), g)
	}
	if g.byLines() {
		return buildNarrow(c, g, x, filter, y)
	}
	return aheadOf(buildGEMM(c, g, "conv", g.forwardSections, x, filter, y), g)
}

// aheadOf sets the function Needs of the action of a float32 convolution. It returns the range of input
// positions that some positions of the result read. So this action can begin before the action that
// computes its input has finished.
func aheadOf(a run.Action, g *Geometry) run.Action {
	if rows, ok := a.(*run.ByRows); ok && !rows.Pointwise && !rows.Rounds {
		rows.Needs = g.Needs
	}
	return a
}

// forwardSections returns the windows of the convolution itself, one for each group.
func (g *Geometry) forwardSections() (sections []packSection) {
	w := g.forward()
	for i := range g.Groups {
		offsets, step := g.forwardAt(i)
		sections = append(sections, packSection{window: w, offsets: offsets, step: step, in: i * g.cg,
			out: i * g.og})
	}
	return sections
}

// buildNarrow builds a convolution over padded images. A ring buffer holds only the padded rows that are
// read together.
func buildNarrow(c *plan.Compiler, g *Geometry, x *run.Value, t *filter, y *run.Value) run.Action {
	p := newProduct(packFor(c, t, g.key("narrow"), func() []packSection {
		offsets, step := g.narrowAt()
		return []packSection{{window: g.narrowForward(), offsets: offsets, step: step}}
	}), t)
	some := g.nearRows()
	ring := g.sees(some)
	if ring >= g.paddedHeight() {
		some, ring = g.oh, 0
	}
	c.OnLayout(func() { p.locateBytes(ring*4*g.paddedWidth()*g.c, y) })
	row := rowOf(c, x, y)
	return run.BySpan(&run.ByRows{Prepare: p.prepare, Work: p.work(), Spans: run.Spans{Positions: y.Positions,
		Step: g.ow, Width: y.Channels, Needs: g.Needs, Rings: true,
		Span: func(f *run.Frame, w *run.Worker, i, from, to int) {
			o, first, last, seen := row(f, w, i), from/g.ow, to/g.ow, 0
			image := o.in
			for y := first; y < last; y += some {
				n := min(some, last-y)
				sees := y*g.Stride[0] + g.sees(n)
				o.in = g.paddedRows(w, image, x.RingRows(), ring, max(y*g.Stride[0], seen), sees)
				p.span(f, w, o, y*g.ow, (y+n)*g.ow)
				seen = sees
			}
		}}})
}
