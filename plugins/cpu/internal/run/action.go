package run

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// Action is a compiled node. One that works row by row lets neighbours share a
// row while it is in the cache; any other does its work at once.
type Action struct {
	// Once does all the work of an action that is not by rows, or begins it.
	Once func(f *Frame) error
	// Await ends what once has begun: an exchange.
	Await func(f *Frame) error

	// Prepare comes before the rows. It reads no rows.
	Prepare func(f *Frame) error
	// Row computes part piece of pieces of row i; a row that cannot be cut
	// has one piece.
	Row func(f *Frame, w *Worker, i, piece, pieces int)
	// Work estimates the nanoseconds that one worker needs for a row; 0 says
	// that a row cannot be cut.
	Work int
	// Span, if there is one, computes positions [from, to) of row i: from a
	// multiple of step on. If it is pointwise, it reads only these positions of
	// other rows. width is the number of values of a position; block, a multiple of
	// step, is how many positions should be computed at once at least.
	Span                          func(f *Frame, w *Worker, i, from, to int)
	Positions, Step, Block, Width int
	Pointwise                     bool
	// Rounds says that at precision bf16 the action itself rounds its results;
	// else those that it does not, and that are stored as bfloat16, are unrounded.
	Rounds    bool
	Unrounded []*Value
	// AsHalves are sets of operands and results: if all of a set are halves, the
	// action reads and writes them as they are. One that is not by rows takes each
	// alone.
	AsHalves [][]*Value
	Widens   *Wide // what an action that belongs to no node makes
	// Needs, unless it is nil, returns which positions of the first operand are
	// seen by these of the result: the action may be part of a course. rings says
	// that the first operand and the result may be rings.
	Needs func(from, to int) (first, last int)
	Rings bool
	// Finish comes after the rows. Results that are not rows are its work.
	Finish func(f *Frame)
}

// Whole returns an action that is not by rows.
func Whole(do func(f *Frame) error) Action { return Action{Once: do} }

// After returns a with something to be done before it.
func (a Action) After(prepare func(f *Frame) error) Action {
	return Whole(func(f *Frame) error {
		if err := prepare(f); err != nil {
			return err
		}
		return a.Once(f)
	})
}

// ByUnit returns a, which has nothing to prepare or to finish, as it is if its
// result is rows; else an action that does the same for every replica, or once.
func ByUnit(k graph.Kind, a Action) Action {
	if k == graph.Rows {
		return a
	}
	return Whole(func(f *Frame) error {
		pieces := a.pieces(f.Threads())
		f.Each(f.Units(k)*pieces, func(w *Worker, task int) { a.Row(f, w, task/pieces, task%pieces, pieces) })
		return nil
	})
}

// Group is what runs between two barriers: one action, or several that go by
// rows, one row through all of them.
type Group struct {
	Nodes   []int
	Actions []Action
	Chains  []Chain // of actions, if they go by rows
	Rows    bool
	Local   []*Slot // what only this group knows, by place in it
	Wides   []*Wide // of halves that actions take as float32
}

// run executes the group.
func (g *Group) run(f *Frame) error {
	if !g.Rows {
		return g.Actions[0].Once(f)
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

// eachPiece passes all rows, cut in at most so many pieces, through a chain.
func (g *Group) eachPiece(f *Frame, c Chain, most int) {
	work := 0
	for _, a := range g.Actions[c.First:c.Last] {
		work += a.Work
	}
	pieces := Action{Work: work}.pieces(most)
	f.Each(f.Total()*pieces, func(w *Worker, task int) { g.row(c, f, w, task/pieces, task%pieces, pieces) })
}

// pieces returns in how many pieces to cut a row, at most most: handing one to
// another worker takes some hundred nanoseconds.
func (a Action) pieces(most int) int {
	const least = 1000 // nanoseconds
	return max(1, min(most, a.Work/least))
}

// Few reports whether there are so few rows that each is cut for all workers.
func (f *Frame) Few() bool { return f.Threads() > 1 && f.Total() < FewRows*f.Threads() }

// FewRows is how many rows per worker are not few.
const FewRows = 2

// Takes reports whether the action reads or writes v, which is a half, as it is.
func (a *Action) Takes(v *Value) bool {
	return slices.ContainsFunc(a.AsHalves, func(set []*Value) bool {
		return slices.Contains(set, v) && Halves(set...)
	})
}

// Halves reports whether all values, as far as they are not nil, are halves.
func Halves(values ...*Value) bool {
	return !slices.ContainsFunc(values, func(v *Value) bool { return v != nil && !v.Half })
}
