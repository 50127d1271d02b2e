package operations

import (
	"sync"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
	"github.com/bnctl/bnctl/tensor"
)

// elementwise works element by element: do receives pieces of the result and of each operand, which may
// be longer. An operand with one element for all of a unit, for each channel or for each position is
// repeated in a pattern.
//
//	y   a0 b0 c0 | a1 b1 c1 | a2 b2 c2 | ...      three channels of every position
//	x   a0 b0 c0 | a1 b1 c1 | a2 b2 c2 | ...      period 0: same layout as y
//	s   s0 s1 s2 | s0 s1 s2 | s0 s1 s2            period 3
//	n   n  n  n  | n  n  n  | n  n  n             period 1
//	p   p0 p0 p0 | p1 p1 p1 | p2 p2 p2 | ...      ofPosition
type elementwise struct {
	y        *run.Value
	operands []*run.Value // the operands; an operand that is nil counts as 0
	periods  []int        // period of each operand, in elements, or ofPosition; 0: an element for each of y
	cyclic   bool         // some operand has a period other than 0
	do       func(y []float32, x [][]float32)
}

// ofPosition is the period, in elementwise.periods, of an operand with one element for each position.
const ofPosition = -1

// patternElements is the maximum number of elements of a pattern.
const patternElements = 1024

// patterns is a pool of memory for the patterns of three operands.
var patterns = sync.Pool{New: func() any { return new([3][patternElements]float32) }}

var zero = []float32{0}

// spans returns an action that works element by element on operands with the layout of the result. do
// receives pieces of one unit of the result and of each operand.
func spans(c *plan.Compiler, do func(y []float32, x [][]float32)) run.Action {
	in, out := operands(c)
	return (&elementwise{y: out[0], operands: in, periods: make([]int, len(in)), do: do}).action(c)
}

// broadcastSpans is like spans, but operands may repeat. It returns nil if an operand is
// broadcast in an unsupported way, or if all operands repeat.
func broadcastSpans(c *plan.Compiler, do func(y []float32, x [][]float32),
	operands ...*run.Value) run.Action {
	e := &elementwise{y: c.Out(0), operands: operands, do: do}
	whole := false
	for _, v := range operands {
		period, ok := periodOf(v, e.y)
		if !ok {
			return nil
		}
		e.periods = append(e.periods, period)
		e.cyclic = e.cyclic || period != 0
		whole = whole || period == 0
	}
	if !whole {
		return nil
	}
	return e.action(c)
}

// periodOf returns the number of elements after which the elements of v repeat in y. It returns 0 if v has
// an element for each element of y, and ofPosition if v has one for each position. Otherwise it returns
// false.
func periodOf(v, y *run.Value) (int, bool) {
	switch {
	case v != nil && sameLayout(v, y):
		return 0, true
	case v == nil || v.Count == 1:
		return 1, true
	}
	strides, of := y.Strides(), broadcast(v, y.Shape)
	alike, channels, positions := true, v.Count == y.Channels, v.Count == y.Positions
	for axis, n := range y.Shape {
		ofChannel := strides[axis] < y.Channels && of[axis] == 0
		positions = positions && (n == 1 || ofChannel || strides[axis] == of[axis]*y.Channels)
		alike = alike && (n == 1 || strides[axis] == of[axis])
		channels = channels && (n == 1 || of[axis] == 0 || of[axis] == 1 && strides[axis] == 1)
	}
	switch {
	case alike && v.Count == y.Count:
		return 0, true
	case channels:
		return y.Channels, true
	case positions:
		return ofPosition, true
	}
	return 0, false
}

// action returns the action that computes y.
func (e *elementwise) action(c *plan.Compiler) run.Action {
	y := e.y
	a := &run.ByRows{Work: y.Count / 10, Row: func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
		from, to := schedule.Span(piece, pieces, y.Count)
		e.elements(f, w, i, from, layout.View[float32](f.Unit(y, w, y.Kind, i))[from:to])
	}}
	if y.Kind == graph.Rows && y.DType == tensor.F32 && len(y.Shape) > 1 {
		for k, v := range e.operands {
			if e.periods[k] == 0 && v.Kind == graph.Rows {
				a.Over = append(a.Over, v)
			}
		}
		a.Span = func(f *run.Frame, w *run.Worker, i, from, to int) { e.span(f, w, i, from, to) }
		a.Positions, a.Step, a.Width, a.Pointwise = y.Positions, 1, y.Channels, true
		a.Rings = y.Last && len(e.operands) == 1
		inserting(c, a, y)
	}
	return run.ByUnit(y.Kind, a)
}

// span computes positions [from, to) of row i.
func (e *elementwise) span(f *run.Frame, w *run.Worker, i, from, to int) {
	y := e.y
	if y.IsInserted() {
		e.interleaved(f, w, i, from, to)
		return
	}
	for n := 0; from < to; from += n {
		p, n1 := contiguous(e.first(), from, to-from)
		q, n2 := contiguous(y, from, to-from)
		n = min(n1, n2)
		out := layout.View[float32](f.Unit(y, w, y.Kind, i))
		e.elements(f, w, i, p*y.Channels, out[q*y.Channels:][:n*y.Channels])
	}
}

// first returns the first operand with the layout of the result. No other operand may be stored in a ring.
func (e *elementwise) first() *run.Value {
	for k, v := range e.operands {
		if e.periods[k] == 0 {
			return v
		}
	}
	return nil
}

// elements computes len(y) elements of unit i from index start on. It reads the elements of the operands with
// the same indices.
func (e *elementwise) elements(f *run.Frame, w *run.Worker, i, start int, y []float32) {
	x := w.Views[:len(e.operands)]
	for k, v := range e.operands {
		if e.periods[k] == 0 {
			x[k] = layout.View[float32](f.Unit(v, w, e.y.Kind, i))[start : start+len(y)]
		}
	}
	if !e.cyclic {
		e.do(y, x)
		return
	}
	if len(y) == 0 {
		return
	}
	p := patterns.Get().(*[3][patternElements]float32)
	defer patterns.Put(p)
	most, channels := patternElements, e.y.Channels
	if channels <= patternElements {
		most = patternElements / channels * channels
	}
	for k, v := range e.operands {
		s := zero
		if v != nil && e.periods[k] != 0 {
			s = layout.View[float32](f.Unit(v, w, e.y.Kind, i))
		}
		switch period := e.periods[k]; {
		case period > patternElements, period == ofPosition:
			x[k] = s
		case period > 0:
			x[k] = repeat(p[k][:min(len(y), most)], s[:period], start)
		}
	}
	e.pieces(y, x, p, start, most)
}

// pieces computes elements from index start on, at most limit at a time.
func (e *elementwise) pieces(y []float32, x [][]float32, p *[3][patternElements]float32, start, limit int) {
	of, channels := [3][]float32{}, e.y.Channels
	copy(of[:], x)
	for len(y) > 0 {
		n, first := min(len(y), limit), start%channels
		for k, period := range e.periods {
			if period > patternElements {
				x[k] = of[k][first:period]
				n = min(n, period-first)
			}
		}
		for k, period := range e.periods {
			if period == ofPosition {
				x[k] = each(p[k][:n], of[k][start/channels:], first, channels)
			}
		}
		e.do(y[:n], x)
		y, start = y[n:], start+n
		for k, period := range e.periods {
			if period == 0 {
				x[k] = x[k][n:]
			}
		}
	}
}

// each fills p with elements of s. Each element belongs to one position and is repeated for all its
// channels. p begins with the given channel of the first position.
func each(p, s []float32, channel, channels int) []float32 {
	for at := p; len(at) > 0; s, channel = s[1:], 0 {
		n := min(len(at), channels-channel)
		for i := range at[:n] {
			at[i] = s[0]
		}
		at = at[n:]
	}
	return p
}

// repeat fills p with repetitions of s, beginning with element start of s.
func repeat(p, s []float32, start int) []float32 {
	n := copy(p, s[start%len(s):])
	for n < len(p) {
		n += copy(p[n:], s)
	}
	return p
}

// inserting allows the result of an action by spans to be stored among the channels of a
// wider value.
func inserting(c *plan.Compiler, a *run.ByRows, y *run.Value) {
	a.Inserts = true
	c.OnLayout(func() {
		if y.IsInserted() {
			run.BySpan(a)
		}
	})
}

// interleaved computes positions [from, to) of row i if the result is stored among the channels
// of a wider value. It computes chunks that stay in L1, and copies them from there.
func (e *elementwise) interleaved(f *run.Frame, w *run.Worker, i, from, to int) {
	const some = 2048 // elements
	y := e.y
	out, positions := layout.View[uint32](f.Unit(y, w, y.Kind, i)), max(1, some/y.Channels)
	chunk := w.Bytes(4 * positions * y.Channels)
	for n := 0; from < to; from += n {
		var p int
		p, n = contiguous(e.first(), from, min(positions, to-from))
		e.elements(f, w, i, p*y.Channels, layout.View[float32](chunk)[:n*y.Channels])
		kernel.CopyRuns(out[from*y.Step():], layout.View[uint32](chunk), y.Channels, n, y.Step(), y.Channels)
	}
}

// contiguous returns the stored index of position p of v. count is the number of positions from p on, up to
// n, that are stored contiguously.
func contiguous(v *run.Value, p, n int) (index, count int) {
	if ring := v.Ring; ring > 0 {
		return p % ring, min(n, ring-p%ring)
	}
	return p, n
}
