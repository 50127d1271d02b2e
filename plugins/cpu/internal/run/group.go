package run

// Group is what runs between two barriers: one action, or several that go by
// rows, one row through all of them.
type Group struct {
	Nodes   []int
	Alone   Runner    // the action that is not by rows; nil in a group of rows
	Actions []*ByRows // of a group of rows
	Chains  []Chain   // of actions
	Local   []*Slot   // what only this group knows, by place in it
	Wides   []*Wide   // of halves that actions take as float32
}

// ByRows reports whether it is a group of rows.
func (g *Group) ByRows() bool { return g.Alone == nil }

// All returns the actions of the group.
func (g *Group) All() []Action {
	if g.Alone != nil {
		return []Action{g.Alone}
	}
	all := make([]Action, len(g.Actions))
	for k, a := range g.Actions {
		all[k] = a
	}
	return all
}

// run executes the group.
func (g *Group) run(f *Frame) error {
	if g.Alone != nil {
		return g.Alone.run(f)
	}
	for _, x := range g.Wides {
		x.Half.wide = x.Float
	}
	for _, a := range g.Actions {
		if a.Prepare != nil {
			if err := a.Prepare(f); err != nil {
				return err
			}
		}
	}
	if f.Few() {
		g.cut(f)
	} else {
		f.Each(f.Total(), func(w *Worker, i int) {
			i = f.Turn(i, f.Total())
			for _, c := range g.Chains {
				g.row(c, f, w, i, 0, 1)
			}
		})
	}
	f.backwards = !f.backwards
	for _, a := range g.Actions {
		if a.Finish != nil {
			a.Finish(f)
		}
	}
	return f.err
}

// Turn returns the i-th of n rows or replicas in the order of the moment. Groups
// go through them forwards and backwards by turns: what the one before has
// treated last is still in the cache.
func (f *Frame) Turn(i, n int) int {
	if f.backwards {
		return n - 1 - i
	}
	return i
}

// cut runs the chains one after the other, each row cut such that all workers
// get as much; where a row has too few steps for that, the actions one after the
// other. Smaller pieces would let a worker help one that is slow, but every cut
// costs: the edges of tiles, and what neighbours both need.
func (g *Group) cut(f *Frame) {
	most := f.Threads() / Divisor(f.Threads(), f.Total())
	for _, c := range g.Chains {
		a := g.Actions[c.First:c.Last]
		if c.Course != nil || len(a) > 1 && a[0].steps() >= 2*most {
			g.eachPiece(f, c, most)
			continue
		}
		for k := range a {
			g.eachPiece(f, Chain{First: c.First + k, Last: c.First + k + 1}, most)
		}
	}
}

// Divisor returns the greatest common divisor of a and b, a if b is 0.
func Divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// eachPiece passes all rows, each divided into at most that number of pieces,
// through a chain.
func (g *Group) eachPiece(f *Frame, c Chain, most int) {
	work := 0
	for _, a := range g.Actions[c.First:c.Last] {
		work += a.Work
	}
	pieces := piecesOf(work, most)
	f.Each(f.Total()*pieces, func(w *Worker, task int) { g.row(c, f, w, task/pieces, task%pieces, pieces) })
}

// Few reports whether there are so few rows that each is cut for all workers.
func (f *Frame) Few() bool { return f.Threads() > 1 && f.Total() < FewRows*f.Threads() }

// FewRows is how many rows per worker are not few.
const FewRows = 2
