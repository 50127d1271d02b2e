package convolution

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// The gradient for the input and the transposed convolution are the same product: every output adds its
// value to the window that it was computed from. So each input pixel sums over the outputs with windows
// that contain it. A phase is the pixels with the same remainder modulo the stride. All pixels of a phase
// use the same taps: stride 2, kernel 3, padding 1 has four phases with 1, 2, 2 and 4 of the 9 taps.

// buildConvGradInput compiles the gradient of a convolution for its input.
func buildConvGradInput(c *plan.Compiler) run.Action {
	if g := geometryOf(c); g != nil {
		return backward(c, g, c.In(0), plain(c.In(1)), c.Out(0))
	}
	return nil
}

// buildConvTranspose builds a transposed convolution. It is the gradient of a convolution, and its weight
// [C][O/groups][kh][kw] is the weight of that convolution.
func buildConvTranspose(c *plan.Compiler) run.Action {
	if g := geometryOf(c); g != nil {
		return backward(c, g, c.In(0), filterOf(c), c.Out(0))
	}
	return nil
}

// backward builds the gradient for the input, or a transposed convolution.
func backward(c *plan.Compiler, g *Geometry, dy *run.Value, t *filter, dx *run.Value) run.Action {
	back, _ := g.flipped() // not nil if the algorithm reads it
	switch algorithm := choose(c); algorithm {
	case class.Depthwise:
		return buildDepthwiseBackward(c, g, dy, t, dx)
	case class.DepthwiseRows:
		return buildDepthwiseRows(c, back, dy, t, dx, true)
	case class.Direct:
		return buildDirect(c, back, dy, t, dx, true)
	case class.DirectDot2:
		return buildDirectDot2(c, back, dy, t, dx, true)
	case class.Dot2:
		return buildDot2(c, g, dot2For(c, t, g.key("backward"), g.backwardSections, false), dy, t, dx)
	case class.Winograd2, class.Winograd4, class.Winograd5:
		direct := newProduct(packFor(c, t, g.key("backward"), g.backwardSections), t)
		return buildWinograd(c, back, back.tiles(algorithm), direct, dy, dx, true)
	case class.Matrix:
		return buildMatrix(c, g, "backward", g.backwardSections, dy, t, dx)
	}
	return buildGEMM(c, g, "backward", g.backwardSections, dy, t, dx)
}

// backwardSections returns the windows of the gradient for the input, one for each
// phase and group.
func (g *Geometry) backwardSections() (sections []packSection) {
	for _, f := range g.backward() {
		for i := range g.Groups {
			offsets, step := g.backwardAt(f, i)
			sections = append(sections, packSection{window: f.window, offsets: offsets, step: step, in: i * g.og,
				out: i * g.cg})
		}
	}
	return sections
}
