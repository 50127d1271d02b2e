package run

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// Action is a compiled node. There are three kinds: *AtOnce does all its work in one call,
// *Exchange is started and awaited later, and *ByRows lets neighbouring actions share a row
// while it is in the cache.
type Action interface {
	// Stores returns how the action handles values that are stored as bfloat16.
	Stores() *Storage
}

// Storage describes how an action handles values that are stored as bfloat16.
type Storage struct {
	// Rounds reports that at precision bf16 the action itself rounds its results. Otherwise
	// the executor rounds the results that are stored as bfloat16 (Unrounded).
	Rounds    bool
	unrounded []*Value
	// AsHalves are sets of operands and results. If all values of a set are halves, the
	// action reads and writes them directly. An action that is not by rows handles each
	// value independently of the others.
	AsHalves [][]*Value
	// Inserts reports that the action can write its only result, of float32, among the
	// channels of a wider value. Its positions are then Value.Step apart. See Joins.
	Inserts bool
}

// Stores returns s. A type that embeds Storage therefore is an Action.
func (s *Storage) Stores() *Storage { return s }

// Unrounded marks results of an action by rows that must be rounded to bfloat16 when they
// are stored.
func (s *Storage) Unrounded(results []*Value) { s.unrounded = results }

// takes reports whether the action reads or writes v directly as a half.
func (s *Storage) takes(v *Value) bool {
	return slices.ContainsFunc(s.AsHalves, func(set []*Value) bool {
		return slices.Contains(set, v) && Halves(set...)
	})
}

// Halves reports whether all values that are not nil are halves.
func Halves(values ...*Value) bool {
	return !slices.ContainsFunc(values, func(v *Value) bool { return v != nil && !v.half })
}

// runner is an action that is the only one of its group.
type runner interface {
	Action
	run(f *Frame) error
}

// AtOnce is an action that computes all rows in one call.
type AtOnce struct {
	Storage
	Do func(f *Frame) error
	// Weights is the number of bytes of weights, if they are too many for an action by rows. If the action is
	// not by rows for another reason, it is 0.
	Weights int
}

// Whole returns an action that computes all rows in one call of do.
func Whole(do func(f *Frame) error) *AtOnce { return &AtOnce{Do: do} }

// After returns a, with prepare as additional work before it.
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
	// Prepare runs before any row is computed. It reads no rows.
	Prepare func(f *Frame) error
	// Row computes one part of row i. The row is divided into pieces parts, and piece is the index of the
	// part. A row that cannot be cut has one part.
	Row func(f *Frame, w *Worker, i, piece, pieces int)
	// Work is an estimate of the nanoseconds that one worker needs for a row. 0 means that a row cannot be
	// cut.
	Work int
	Spans
	// Finish runs after all rows are computed. It computes results that are not rows.
	Finish func(f *Frame)
	// Joins maps operands to their first channel in the result. An operand that is computed
	// in its final place in the result need not be copied (insert.go).
	Joins map[*Value]int
	// Idle reports that there is nothing to do, because the result has the place of the operand.
	Idle   bool
	widens *widened // the float32 copy that the action makes, if it has no node
}

// Spans has the functions of an action by rows that can compute only some positions of a row.
type Spans struct {
	// Span, unless it is nil, computes positions [from, to) of row i. from is a multiple of Step. If the
	// action is Pointwise, it reads only these positions of operands that are rows. Width is the number of
	// values of a position. Block, a multiple of Step, is the minimum number of positions that should be
	// computed at once.
	Span                          func(f *Frame, w *Worker, i, from, to int)
	Positions, Step, Block, Width int
	Pointwise                     bool
	// Needs, unless it is nil, returns the range of positions of the first operand that positions [from, to)
	// of the result depend on. The action may then be part of a tiling. Rings reports that the first operand
	// and the result may be stored in rings.
	Needs func(from, to int) (first, last int)
	Rings bool
	// Over are operands that the result may overwrite. The action reads an element of them only to compute the
	// same element of the result.
	Over []*Value
}

// ByUnit returns a unchanged if its result is rows. Otherwise it returns an action that does the same work
// for every replica, or once for a value of kind Whole. a must not have a function that prepares or
// finishes a run.
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

// pieces returns the number of pieces into which to divide a row, at most limit. work is the time of a row
// in nanoseconds. Passing a piece to another worker costs some hundred nanoseconds.
func (f *Frame) pieces(work, limit int) int { return max(1, min(limit, work/f.Schedule.Piece)) }
