package run

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
	"github.com/bnctl/bnctl/plugins/cpu/internal/workers"
)

// A group is the work between two barriers: one action, or several that work
// row by row. Every row passes through all of these before its worker starts the
// next row, so that a result of one action is still in the cache when the next
// action reads it.
//
//	       worker 0      worker 1
//	       row 0         row 1
//	conv1    |             |
//	relu1    |             |        a chain: a few positions at a time
//	conv2    v             v
//	       row 2         row 3      the lanes of rows 0 and 1 are used again
//	conv1    |             |
//	...
//	============ barrier ============
//
// If there are fewer rows than workers, each row is cut instead (cut).
type group struct {
	nodes   []int
	whole   runner        // the action, if it is not by rows; nil in a group of rows
	actions []*ByRows     // the actions of a group of rows
	chains  []chain       // the chains into which actions are divided
	local   []*arena.Slot // slots of values that only this group uses; their times are chains
	wides   []*widened    // float32 copies of halves, for actions that need float32
}

// byRows reports whether g is a group of rows.
func (g *group) byRows() bool { return g.whole == nil }

// all returns the actions of the group.
func (g *group) all() []Action {
	if g.whole != nil {
		return []Action{g.whole}
	}
	all := make([]Action, len(g.actions))
	for k, a := range g.actions {
		all[k] = a
	}
	return all
}

// run executes the group.
func (g *group) run(f *Frame) error {
	if g.whole != nil {
		return g.whole.run(f)
	}
	for _, x := range g.wides {
		x.half.float = x.float
	}
	for _, a := range g.actions {
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
			for _, c := range g.chains {
				g.row(c, f, w, i, 0, 1)
			}
		})
	}
	f.backwards = !f.backwards
	for _, a := range g.actions {
		if a.Finish != nil {
			a.Finish(f)
		}
	}
	return f.err
}

// Turn returns the i-th of n rows or replicas in the current order. Groups alternate
// between ascending and descending order, so that each starts with data that the group
// before it has left in the cache.
func (f *Frame) Turn(i, n int) int {
	if f.backwards {
		return n - 1 - i
	}
	return i
}

// cut runs the chains one after the other. It divides each row so that all workers get equal shares. If a
// row has too few steps for that, it runs the actions one after the other instead.
func (g *group) cut(f *Frame) {
	most := f.mostPieces()
	for _, c := range g.chains {
		a := g.actions[c.first:c.last]
		if c.tiling != nil || len(a) > 1 && a[0].steps() >= 2*most {
			g.eachPiece(f, c, most)
			continue
		}
		for k := range a {
			if a[k].Idle {
				continue
			}
			g.eachPiece(f, chain{first: c.first + k, last: c.first + k + 1}, most)
		}
	}
}

// gcd returns the greatest common divisor of a and b. If b is 0, it is a.
func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// eachPiece passes all rows through a chain. It divides each row into at most limit pieces, or into more if
// smaller pieces are worthwhile.
func (g *group) eachPiece(f *Frame, c chain, limit int) {
	work, smaller := 0, c.tiling == nil
	for _, a := range g.actions[c.first:c.last] {
		work += a.Work
		smaller = smaller && a.Span != nil && a.Block == 0
	}
	pieces := f.pieces(work, limit)
	if smaller {
		pieces = f.smaller(pieces, work, g.actions[c.first].steps())
	}
	f.Each(f.Total()*pieces, func(w *Worker, task int) { g.row(c, f, w, task/pieces, task%pieces, pieces) })
}

// mostPieces returns the number of pieces of each row, if there are few rows. All workers then get the same
// number of pieces.
func (f *Frame) mostPieces() int { return f.Threads() / gcd(f.Threads(), f.Total()) }

// smaller returns the number of pieces into which to cut a row, at least pieces. work is the time of the
// row, and steps its number of steps. With more pieces, a worker that is done can run pieces of a worker
// that is held up because its core is busy with other work. But every cut has a cost: the edges of tiles,
// and the elements that both neighbours need.
func (f *Frame) smaller(pieces, work, steps int) int {
	const (
		each       = 4 // number of pieces for each worker
		leastSteps = 2 // minimum number of steps in a piece
	)
	if pieces < f.mostPieces() {
		return pieces
	}
	most := workers.MostOwn / (max(f.Total(), 1) * pieces)
	return pieces * max(1, min(each, work/(pieces*f.Schedule.SmallPiece), steps/(pieces*leastSteps), most))
}

// HeavyPieces returns the number of pieces into which to cut each of few rows, for an
// action with the given work and steps that is not by rows.
func (f *Frame) HeavyPieces(work, steps int) int { return f.smaller(f.mostPieces(), work, steps) }

// Few reports whether there are so few rows that each row is divided among all workers.
func (f *Frame) Few() bool { return f.Threads() > 1 && f.Total() < arena.LanesPerThread*f.Threads() }
