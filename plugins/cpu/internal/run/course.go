package run

// Stretch is positions [from, to) of the result of an action.
type Stretch struct{ From, To int }

// Join returns the stretch that contains both, of which s may be none.
func (s Stretch) Join(t Stretch) Stretch {
	if s.To == 0 {
		return t
	}
	return Stretch{min(s.From, t.From), max(s.To, t.To)}
}

// Course says which positions of every action of a chain a step of the chain
// computes. Where actions see more than their own positions, those before them
// are ahead. from is what the step needs: a worker that has done the step before
// goes on where that ended, one that begins here begins there.
type Course [][]Stretch

// run passes piece of pieces of row i through the actions of a chain. What
// pieces compute both is in the memory of their own workers.
func (c Course) run(a []*ByRows, f *Frame, w *Worker, i, piece, pieces int) {
	first, last := len(c)*piece/pieces, len(c)*(piece+1)/pieces
	for n := first; n < last; n++ {
		for k := range a {
			s := c[n][k]
			if n > first {
				s.From = max(s.From, c[n-1][k].To)
			}
			if s.From < s.To {
				a[k].Span(f, w, i, s.From, s.To)
			}
		}
	}
}

// Most returns how many positions of the result of action k a step needs or
// computes at most.
func (c Course) Most(k int) (n int) {
	for _, s := range c {
		n = max(n, s[k].To-s[k].From)
	}
	return n
}
