package run

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// In a chain without a tiling all actions compute the same spans:
//
// 	span     0 .. 11      12 .. 23     24 .. 35
// 	conv1      1             4            7
// 	relu       2             5            8         the order of computation in a worker
// 	add        3             6            9

// A chain is the neighbouring actions [first, last) of a group: one that computes spans of
// positions, and later actions that need only the same positions of earlier results. A few
// positions pass through all of them while they are in the cache, just as rows pass through
// a group.
type chain struct {
	first, last int
	tiling      tiling // nil: each action reads only the positions that it computes
}

// chainOf returns the index of the chain that action k belongs to.
func (g *group) chainOf(k int) int {
	for i, c := range g.chains {
		if k < c.last {
			return i
		}
	}
	return k
}

// row divides row i into pieces parts, and passes the part with index piece through a chain.
func (g *group) row(c chain, f *Frame, w *Worker, i, piece, pieces int) {
	a := g.actions[c.first:c.last]
	switch {
	case c.tiling != nil:
		c.tiling.run(a, f, w, i, piece, pieces)
		return
	case len(a) == 1:
		a[0].Row(f, w, i, piece, pieces)
		return
	}
	some := spanOf(a, f.Schedule.Span)
	stride := max(a[0].Step, a[0].Block, some/a[0].Step*a[0].Step)
	from, to := a[0].cut(piece, pieces)
	for p := from; p < to; p += stride {
		end := min(p+stride, to)
		a[0].Span(f, w, i, p, end)
		for q := p; q < end; q += some {
			for k := range a[1:] {
				a[1+k].Span(f, w, i, q, min(q+some, end))
			}
		}
	}
}

// spanOf returns the number of positions for a span. The results of all actions for these positions then
// have about the given number of bytes.
func spanOf(a []*ByRows, bytes int) int {
	const tile = 12
	width := 0
	for _, x := range a {
		width += x.Width
	}
	return max(1, bytes/4/max(width, 1)/tile) * tile
}

// steps returns the number of steps of positions in a row.
func (s *Spans) steps() int { return (s.Positions + s.Step - 1) / s.Step }

// cut returns the positions of a piece of a row, in whole steps.
func (s *Spans) cut(piece, pieces int) (from, to int) {
	first, last := schedule.RangeOf(piece, pieces, s.steps())
	return min(first*s.Step, s.Positions), min(last*s.Step, s.Positions)
}

// BySpan returns a. Its function Row is set, so that it computes a row span by span.
func BySpan(a *ByRows) *ByRows {
	span, cut := a.Span, a.Spans
	a.Row = func(f *Frame, w *Worker, i, piece, pieces int) {
		if from, to := cut.cut(piece, pieces); from < to {
			span(f, w, i, from, to)
		}
	}
	return a
}

// unit returns a number. The length of a span must be a multiple of it: a whole tile, or 1 for windows,
// because spans of windows may end inside a tile.
func (s *Spans) unit() int {
	if s.Step == kernel.WindowPositions {
		return 1
	}
	return s.Step
}

// wholeSteps rounds p, the end of a span, up to the end of a whole unit, or of a whole tile of a window.
func (s *Spans) wholeSteps(p int) int { return min((p+s.Step-1)/s.Step*s.Step, s.Positions) }
