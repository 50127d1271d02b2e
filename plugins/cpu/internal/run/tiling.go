package run

// A span is positions [from, to) of the result of an action.
type span struct{ from, to int }

// join returns the span that contains both, of which s may be none.
func (s span) join(t span) span {
	if s.to == 0 {
		return t
	}
	return span{min(s.from, t.from), max(s.to, t.to)}
}

// A tiling says which positions of every action of a chain a step of the chain
// computes. Where actions see more than their own positions, those before them
// are ahead. from is what the step needs: a worker that has done the step before
// goes on where that ended, one that begins here begins there.
type tiling [][]span

// run passes piece of pieces of row i through the actions of a chain. What
// pieces compute both is in the memory of their own workers.
func (c tiling) run(a []*ByRows, f *Frame, w *Worker, i, piece, pieces int) {
	first, last := RangeOf(piece, pieces, len(c))
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

// most returns how many positions of the result of action k a step needs or
// computes at most.
func (c tiling) most(k int) (n int) {
	for _, s := range c {
		n = max(n, s[k].to-s[k].from)
	}
	return n
}
