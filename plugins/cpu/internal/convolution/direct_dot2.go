package convolution

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// buildDirectDot2 builds a direct convolution by pairs of bfloat16. If backward is set, it is the gradient of
// the convolution that has filter t.
func buildDirectDot2(c *plan.Compiler, g *Geometry, x *run.Value, t *filter, y *run.Value,
	backward bool) run.Action {
	key := "direct"
	if backward {
		key = "direct back"
	}
	s := g.directRow()
	k := newDot2Product(c, dot2For(c, t, g.key(key), func() []packSection {
		offsets, step := g.directAt(backward)
		w := kernel.NewWindow(nil, nil, g.Kernel[0], kernel.DirectWidth*g.c, g.o)
		return []packSection{{window: w, offsets: s.DirectPairsAt(offsets), step: step}}
	}, false), t, y)
	row := k.rowOf(c, x, y)
	work := y.Count * g.taps * g.c / 200
	a := run.BySpan(&run.ByRows{Prepare: k.prepare, Work: work, Spans: run.Spans{Positions: y.Positions,
		Step: g.ow, Width: g.o, Span: func(f *run.Frame, w *run.Worker, i, from, to int) {
			from, to = from/g.ow, to/g.ow
			o, finish := row(f, w, i), k.finish(0)
			padded := k.narrowRows(w, g, o, from, to-1)
			for y := from; y < to; y++ {
				at := y * g.ow * g.o
				finish.Epilogue = o.end.From(at)
				in, weights := padded[y*s.RowStep:], k.packed.sections[0].data
				if o.half != nil {
					k.kernels.DirectPairsHalf(s, o.half[at:], in, weights, finish, g.ow)
				} else {
					k.kernels.DirectPairs(s, o.out[at:], in, weights, finish, g.ow)
				}
			}
		}}})
	a.Rounds, a.AsHalves = true, k.asHalves(c, x, y)
	return a
}
