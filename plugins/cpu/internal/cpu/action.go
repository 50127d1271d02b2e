package cpu

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// action is a compiled node. One that works row by row lets neighbours share a
// row while it is in the cache; any other does its work at once.
type action struct {
	// once does all the work of an action that is not by rows, or begins it.
	once func(f *frame) error
	// await ends what once has begun: an exchange.
	await func(f *frame) error

	// prepare comes before the rows. It reads no rows.
	prepare func(f *frame) error
	// row computes part piece of pieces of row i; a row that cannot be cut
	// has one piece.
	row func(f *frame, w *worker, i, piece, pieces int)
	// work estimates the nanoseconds that one worker needs for a row; 0 says
	// that a row cannot be cut.
	work int
	// span, if there is one, computes positions [from, to) of row i: from a
	// multiple of step on. If it is pointwise, it reads only these positions of
	// other rows. width is the number of values of a position; block, a multiple of
	// step, is how many positions should be computed at once at least.
	span                          func(f *frame, w *worker, i, from, to int)
	positions, step, block, width int
	pointwise                     bool
	// rounds says that at precision bf16 the action itself rounds its results;
	// else those that it does not, and that are stored as bfloat16, are unrounded.
	rounds    bool
	unrounded []*value
	// asHalves are sets of operands and results: if all of a set are halves, the
	// action reads and writes them as they are. One that is not by rows takes each
	// alone.
	asHalves [][]*value
	widens   *wide // what an action that belongs to no node makes
	// needs, unless it is nil, returns which positions of the first operand are
	// seen by these of the result: the action may be part of a course. rings says
	// that the first operand and the result may be rings.
	needs func(from, to int) (first, last int)
	rings bool
	// finish comes after the rows. Results that are not rows are its work.
	finish func(f *frame)
}

// whole returns an action that is not by rows.
func whole(do func(f *frame) error) action { return action{once: do} }

// after returns a with something to be done before it.
func (a action) after(prepare func(f *frame) error) action {
	return whole(func(f *frame) error {
		if err := prepare(f); err != nil {
			return err
		}
		return a.once(f)
	})
}

// byUnit returns a, which has nothing to prepare or to finish, as it is if its
// result is rows; else an action that does the same for every replica, or once.
func byUnit(k graph.Kind, a action) action {
	if k == graph.Rows {
		return a
	}
	return whole(func(f *frame) error {
		pieces := a.pieces(f.threads())
		f.each(f.units(k)*pieces, func(w *worker, task int) { a.row(f, w, task/pieces, task%pieces, pieces) })
		return nil
	})
}

// group is what runs between two barriers: one action, or several that go by
// rows, one row through all of them.
type group struct {
	nodes   []int
	actions []action
	chains  []chain // of actions, if they go by rows
	rows    bool
	local   []*slot // what only this group knows, by place in it
	wides   []*wide // of halves that actions take as float32
}

// run executes the group.
func (g *group) run(f *frame) error {
	if !g.rows {
		return g.actions[0].once(f)
	}
	for _, x := range g.wides {
		x.half.wide = x.float
	}
	for _, a := range g.actions {
		if a.prepare != nil {
			if err := a.prepare(f); err != nil {
				return err
			}
		}
	}
	if f.few() {
		g.cut(f)
	} else {
		f.each(f.total(), func(w *worker, i int) {
			i = f.turn(i, f.total())
			for _, c := range g.chains {
				g.row(c, f, w, i, 0, 1)
			}
		})
	}
	f.backwards = !f.backwards
	for _, a := range g.actions {
		if a.finish != nil {
			a.finish(f)
		}
	}
	return f.err
}

// turn returns the i-th of n rows or replicas in the order of the moment. Groups
// go through them forwards and backwards by turns: what the one before has
// treated last is still in the cache.
func (f *frame) turn(i, n int) int {
	if f.backwards {
		return n - 1 - i
	}
	return i
}

// cut runs the chains one after the other, each row cut such that all workers
// get as much; where a row has too few steps for that, the actions one after the
// other. Smaller pieces would let a worker help one that is slow, but every cut
// costs: the edges of tiles, and what neighbours both need.
func (g *group) cut(f *frame) {
	most := f.threads() / divisor(f.threads(), f.total())
	for _, c := range g.chains {
		a := g.actions[c.first:c.last]
		if c.course != nil || len(a) > 1 && a[0].steps() >= 2*most {
			g.eachPiece(f, c, most)
			continue
		}
		for k := range a {
			g.eachPiece(f, chain{first: c.first + k, last: c.first + k + 1}, most)
		}
	}
}

// divisor returns the greatest common divisor of a and b, a if b is 0.
func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// eachPiece passes all rows, cut in at most so many pieces, through a chain.
func (g *group) eachPiece(f *frame, c chain, most int) {
	work := 0
	for _, a := range g.actions[c.first:c.last] {
		work += a.work
	}
	pieces := action{work: work}.pieces(most)
	f.each(f.total()*pieces, func(w *worker, task int) { g.row(c, f, w, task/pieces, task%pieces, pieces) })
}

// pieces returns in how many pieces to cut a row, at most most: handing one to
// another worker takes some hundred nanoseconds.
func (a action) pieces(most int) int {
	const least = 1000 // nanoseconds
	return max(1, min(most, a.work/least))
}

// few reports whether there are so few rows that each is cut for all workers.
func (f *frame) few() bool { return f.threads() > 1 && f.total() < fewRows*f.threads() }

// fewRows is how many rows per worker are not few.
const fewRows = 2

// takes reports whether the action reads or writes v, which is a half, as it is.
func (a *action) takes(v *value) bool {
	return slices.ContainsFunc(a.asHalves, func(set []*value) bool {
		return slices.Contains(set, v) && halves(set...)
	})
}

// halves reports whether all values, as far as they are not nil, are halves.
func halves(values ...*value) bool {
	return !slices.ContainsFunc(values, func(v *value) bool { return v != nil && !v.half })
}
