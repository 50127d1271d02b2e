package run

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// A span is positions [from, to) of the result of an action.
type span struct{ from, to int }

// join returns the smallest span that contains s and t. s may be empty.
func (s span) join(t span) span {
	if s.to == 0 {
		return t
	}
	return span{min(s.from, t.from), max(s.to, t.to)}
}

// A tiling lists, for each step of a chain, the positions that each action computes. If actions read more
// than the positions that they compute, the actions before them run ahead. The beginning of a span is the
// first position that the step needs. A worker that has done the previous step continues where that step
// ended; a worker that begins with this step computes the whole span.
type tiling [][]span

// run passes a piece of row i through the actions of a chain. Positions that two pieces
// both compute are stored in the private memory of each worker.
func (c tiling) run(a []*ByRows, f *Frame, w *Worker, i, piece, pieces int) {
	first, last := schedule.RangeOf(piece, pieces, len(c))
	for n := first; n < last; n++ {
		for k := range a {
			s := c[n][k]
			if n > first {
				s.from = max(s.from, c[n-1][k].to)
			}
			if s.from < s.to {
				a[k].Span(f, w, i, s.from, s.to)
			}
		}
	}
}

// maxPositions returns the maximum number of positions of the result of action k that a step computes or
// still needs.
func (c tiling) maxPositions(k int) (n int) {
	for _, s := range c {
		n = max(n, s[k].to-s[k].from)
	}
	return n
}
