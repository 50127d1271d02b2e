package run

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// Action is what a node was compiled to. It is of one of three kinds: *AtOnce does
// its work at once, an *Exchange begins and is waited for, and *ByRows lets
// neighbours share a row while it is in the cache.
type Action interface {
	// Stores says how the action treats values that are stored as bfloat16.
	Stores() *Storage
}

// Storage is how an action treats values that are stored as bfloat16.
type Storage struct {
	// Rounds says that at precision bf16 the action itself rounds its results.
	// Else the executor rounds those that are stored as bfloat16 (Unrounded).
	Rounds    bool
	unrounded []*Value
	// AsHalves are sets of operands and results: if all of a set are halves, the
	// action reads and writes them as they are. One that is not by rows takes each
	// alone.
	AsHalves [][]*Value
	// Inserts says that the action can write its only result, of float32, among the channels of a wider value:
	// its positions are then Value.Step apart. See Joins.
	Inserts bool
}

// Stores returns s: it makes what has a Storage an Action.
func (s *Storage) Stores() *Storage { return s }

// Unrounded says that results of an action by rows are to be rounded to bfloat16
// where they are stored.
func (s *Storage) Unrounded(results []*Value) { s.unrounded = results }

// takes reports whether the action reads or writes v, which is a half, as it is.
func (s *Storage) takes(v *Value) bool {
	return slices.ContainsFunc(s.AsHalves, func(set []*Value) bool {
		return slices.Contains(set, v) && Halves(set...)
	})
}

// Halves reports whether all values, as far as they are not nil, are halves.
func Halves(values ...*Value) bool {
	return !slices.ContainsFunc(values, func(v *Value) bool { return v != nil && !v.half })
}

// runner is an action that is a group of its own.
type runner interface {
	Action
	run(f *Frame) error
}

// AtOnce is an action that is not by rows.
type AtOnce struct {
	Storage
	Do func(f *Frame) error
	// Weights is the bytes of weights for whose sake the action is not by rows; 0
	// without such a reason.
	Weights int
}

// Whole returns an action that is not by rows.
func Whole(do func(f *Frame) error) *AtOnce { return &AtOnce{Do: do} }

// After returns a with something to be done before it.
func (a *AtOnce) After(prepare func(f *Frame) error) *AtOnce {
	return Whole(func(f *Frame) error {
		if err := prepare(f); err != nil {
			return err
		}
		return a.Do(f)
	})
}

func (a *AtOnce) run(f *Frame) error { return a.Do(f) }

// ByRows is an action that works row by row.
type ByRows struct {
	Storage
	// Prepare comes before the rows. It reads no rows.
	Prepare func(f *Frame) error
	// Row computes part piece of pieces of row i; a row that cannot be cut
	// has one piece.
	Row func(f *Frame, w *Worker, i, piece, pieces int)
	// Work estimates the nanoseconds that one worker needs for a row; 0 says
	// that a row cannot be cut.
	Work int
	Spans
	// Finish comes after the rows. Results that are not rows are its work.
	Finish func(f *Frame)
	// Joins are operands that need not be copied if they are made where they come to lie in the result, with
	// their first channel there (insert.go).
	Joins  map[*Value]int
	widens *widened // what an action that belongs to no node makes
}

// Spans is what an action by rows has that can compute positions of a row alone.
type Spans struct {
	// Span, if there is one, computes positions [from, to) of row i: from a
	// multiple of step on. If it is pointwise, it reads only these positions of
	// other rows. width is the number of values of a position; block, a multiple of
	// step, is how many positions should be computed at once at least.
	Span                          func(f *Frame, w *Worker, i, from, to int)
	Positions, Step, Block, Width int
	Pointwise                     bool
	// Needs, unless it is nil, returns which positions of the first operand are
	// seen by these of the result: the action may be part of a tiling. rings says
	// that the first operand and the result may be rings.
	Needs func(from, to int) (first, last int)
	Rings bool
	// Over are operands that the result may be written over: the action reads an element
	// of such a one only for the same element of the result.
	Over []*Value
}

// ByUnit returns a, which has nothing to prepare or to finish, as it is if its
// result is rows; else an action that does the same for every replica, or once.
func ByUnit(k graph.Kind, a *ByRows) Action {
	if k == graph.Rows {
		return a
	}
	return Whole(func(f *Frame) error {
		pieces := f.pieces(a.Work, f.Threads())
		f.Each(f.Units(k)*pieces, func(w *Worker, task int) { a.Row(f, w, task/pieces, task%pieces, pieces) })
		return nil
	})
}

// pieces returns the number of pieces, at most most, into which to divide a row of that many nanoseconds of
// work. Handing one to another worker costs some hundred nanoseconds.
func (f *Frame) pieces(work, most int) int { return max(1, min(most, work/f.Schedule.Piece)) }
