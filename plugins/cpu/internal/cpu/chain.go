package cpu

import "github.com/bnctl/bnctl/plugins/cpu/internal/kernel"

// chain is neighbouring actions [first, last) of a group: one that computes
// spans of positions and those behind it that need only the same positions of
// what comes before. A few positions pass through all of them while they are
// in the cache, as rows pass through a group.
type chain struct {
	first, last int
	course      course // nil: all see the same positions only
}

// chainOf returns the number of the chain that action k belongs to.
func (g *group) chainOf(k int) int {
	for i, c := range g.chains {
		if k < c.last {
			return i
		}
	}
	return k
}

// row passes piece of pieces of row i through a chain.
func (g *group) row(c chain, f *frame, w *worker, i, piece, pieces int) {
	a := g.actions[c.first:c.last]
	switch {
	case c.course != nil:
		c.course.run(a, f, w, i, piece, pieces)
		return
	case len(a) == 1:
		a[0].row(f, w, i, piece, pieces)
		return
	}
	some := spanOf(a)
	stride := max(a[0].step, a[0].block, some/a[0].step*a[0].step)
	from, to := a[0].cut(piece, pieces)
	for p := from; p < to; p += stride {
		end := min(p+stride, to)
		a[0].span(f, w, i, p, end)
		for q := p; q < end; q += some {
			for k := range a[1:] {
				a[1+k].span(f, w, i, q, min(q+some, end))
			}
		}
	}
}

// spanOf returns how many positions should pass through the actions together.
func spanOf(a []action) int {
	const bytes, tile = 192 << 10, 12
	width := 0
	for _, x := range a {
		width += x.width
	}
	return max(1, bytes/4/max(width, 1)/tile) * tile
}

// steps returns how many steps of positions a row has.
func (a *action) steps() int { return (a.positions + a.step - 1) / a.step }

// cut returns the positions of a piece of a row, in whole steps.
func (a *action) cut(piece, pieces int) (from, to int) {
	n := a.steps()
	return min(n*piece/pieces*a.step, a.positions), min(n*(piece+1)/pieces*a.step, a.positions)
}

// bySpan returns a, whose rows are computed by spans.
func bySpan(a action) action {
	span := a.span
	cut := a
	a.row = func(f *frame, w *worker, i, piece, pieces int) {
		if from, to := cut.cut(piece, pieces); from < to {
			span(f, w, i, from, to)
		}
	}
	return a
}

// unit returns what spans are multiples of in a course. Those of windows need not
// be whole tiles.
func (a *action) unit() int {
	if a.step == kernel.WindowPositions {
		return 1
	}
	return a.step
}
