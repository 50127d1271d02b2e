package operations

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
	"github.com/bnctl/bnctl/tensor"
)

// moved returns the action of a node that only moves elements. Many reshapes and transpositions, and slices
// of all elements, leave every element of a row where it is in memory. If the result then has the memory of
// the operand, nothing is copied.
func moved(c *plan.Compiler, m *move) run.Action {
	if !m.isWhole() {
		return m.action()
	}
	x, y := m.x, m.y
	a := &run.ByRows{Work: y.Count / 8, Spans: run.Spans{Over: []*run.Value{x}}}
	elements := func(f *run.Frame, w *run.Worker, i, from, to int) {
		if !y.IsOver(x) {
			copy(f.At(y, w, i)[from:to], f.At(x, w, i)[from:])
		}
	}
	a.Row = func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
		from, to := schedule.Span(piece, pieces, y.Count)
		elements(f, w, i, from, to)
	}
	if x.Positions == y.Positions && x.Channels == y.Channels && len(y.Shape) > 1 {
		n := y.Channels
		a.Span = func(f *run.Frame, w *run.Worker, i, from, to int) { elements(f, w, i, from*n, to*n) }
		a.Positions, a.Step, a.Width, a.Pointwise = y.Positions, 1, n, true
	}
	c.OnLayout(func() {
		if y.IsOver(x) {
			a.Work, a.Idle = 0, !c.BF16() // a bf16 program must round the result, so there is work
		}
	})
	return a
}

// isWhole reports whether the move copies complete rows of x in their order, with elements of four bytes.
func (m *move) isWhole() bool {
	return !m.fill && m.x.Kind == graph.Rows && m.y.Kind == graph.Rows && m.y.DType.Size() == 4 &&
		m.x.Count == m.y.Count && tensor.Count(m.shape) == m.y.Count && m.src.first == 0 && m.dst.first == 0 &&
		slices.Equal(m.loops(), joined([]axis{{m.y.Count, 1, 1}}))
}
