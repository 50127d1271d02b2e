package operations

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/fusion"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// structureOps move elements and compute nothing.
var structureOps = map[graph.Op]func(c *plan.Compiler) run.Action{
	graph.Concat:      buildConcat,
	graph.Slice:       buildSlice,
	graph.SliceGrad:   buildSliceGrad,
	graph.Pad:         buildPad,
	graph.Reshape:     buildReshape,
	graph.Transpose:   buildTranspose,
	graph.BroadcastTo: buildBroadcastTo,
	graph.Take:        buildTake,
	graph.TakeGrad:    buildTakeGrad,
}

func buildConcat(c *plan.Compiler) run.Action {
	y, axis := c.Out(0), c.Node().Int("axis")
	if c.Shuffles() > 0 {
		return shuffled(c)
	}
	if _, sliced := c.Region(0); len(c.Node().In) == 1 && !sliced {
		return moved(c, &move{x: c.In(0), y: y, shape: y.Shape, src: all(c.In(0)), dst: all(y)})
	}
	var moves []run.Action
	begin, joins := 0, map[*run.Value]int{}
	for i := range c.Node().In {
		x, dst := c.In(i), all(y)
		shape, src := x.Shape, all(x)
		p, sliced := c.Region(i)
		if sliced {
			shape, src = p.Shape, src.slice(p.Begin, p.Step)
		}
		dst.first = begin * dst.strides[axis]
		m := (&move{x: x, y: y, shape: shape, src: src, dst: dst}).action()
		if rows, ok := m.(*run.ByRows); ok && !sliced && axis == 0 && x.Last && y.Last {
			joins[x], m = begin, unlessInserted(c, x, rows)
		}
		moves = append(moves, m)
		begin += shape[axis]
	}
	a := sequence(moves)
	if rows, ok := a.(*run.ByRows); ok && len(joins) > 0 {
		rows.Joins = joins
		c.OnLayout(func() { rows.Work = workOf(moves) })
	}
	return a
}

// unlessInserted returns an action that does what copies does, unless x was computed in its final place.
func unlessInserted(c *plan.Compiler, x *run.Value, copies *run.ByRows) *run.ByRows {
	a := *copies
	a.Row = func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
		if !x.IsInserted() {
			copies.Row(f, w, i, piece, pieces)
		}
	}
	if copies.Span != nil {
		a.Span = func(f *run.Frame, w *run.Worker, i, from, to int) {
			if !x.IsInserted() {
				copies.Span(f, w, i, from, to)
			}
		}
	}
	c.OnLayout(func() {
		if x.IsInserted() {
			a.Work = 0
		}
	})
	return &a
}

// workOf returns the sum of the fields Work of actions, all by rows.
func workOf(actions []run.Action) (n int) {
	for _, a := range actions {
		n += a.(*run.ByRows).Work
	}
	return n
}

// sequence returns an action that runs several actions one after the other. All of them must be by rows, or
// none.
func sequence(actions []run.Action) run.Action {
	var whole []*run.AtOnce
	var rows []*run.ByRows
	for _, a := range actions {
		switch a := a.(type) {
		case *run.AtOnce:
			whole = append(whole, a)
		case *run.ByRows:
			rows = append(rows, a)
		}
	}
	if rows == nil {
		return run.Whole(func(f *run.Frame) error {
			for _, a := range whole {
				if err := a.Do(f); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return combined(rows)
}

// togetherWork is the work of one turn, in which all actions compute the same part of a row. The part is
// some ten KiB, and stays in L1 until the next action needs it, because many cache lines of the result have
// elements from several operands.
const togetherWork = 4096

// combined returns an action that runs several actions by rows, one after the other, on a part of the row
// at a time. The actions write different elements.
func combined(rows []*run.ByRows) *run.ByRows {
	a := &run.ByRows{}
	cut := !slices.ContainsFunc(rows, func(r *run.ByRows) bool { return r.Work == 0 })
	for _, r := range rows {
		a.Work += r.Work
	}
	work := a.Work
	a.Row = func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
		turns := 1
		if cut {
			turns = max(1, work/(pieces*togetherWork))
		}
		for turn := range turns {
			for _, a := range rows {
				a.Row(f, w, i, piece*turns+turn, pieces*turns)
			}
		}
	}
	if slices.ContainsFunc(rows, func(a *run.ByRows) bool { return a.Span == nil }) {
		return a
	}
	a.Spans = run.Spans{Positions: rows[0].Positions, Step: 1, Pointwise: true,
		Span: func(f *run.Frame, w *run.Worker, i, from, to int) {
			for _, a := range rows {
				a.Span(f, w, i, from, to)
			}
		}}
	for _, r := range rows {
		a.Width += r.Width
	}
	return a
}

// sliced returns the region of v that the current node, a slice, selects.
func sliced(c *plan.Compiler, v *run.Value) region {
	return all(v).slice(c.Node().Ints("begin"), c.Node().SliceStep())
}

func buildSlice(c *plan.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	return moved(c, &move{x: x, y: y, shape: y.Shape, src: sliced(c, x), dst: all(y)})
}

func buildSliceGrad(c *plan.Compiler) run.Action {
	dy, dx := c.In(0), c.Out(0)
	return (&move{x: dy, y: dx, shape: dy.Shape, src: all(dy), dst: sliced(c, dx), fill: true}).action()
}

func buildPad(c *plan.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	if slices.Equal(x.Shape, y.Shape) {
		return moved(c, &move{x: x, y: y, shape: y.Shape, src: all(x), dst: all(y)})
	}
	dst := all(y)
	for axis, n := range c.Node().Ints("before") {
		dst.first += n * dst.strides[axis]
	}
	m := &move{x: x, y: y, shape: x.Shape, src: all(x), dst: dst, fill: true}
	if c.Node().Op == graph.PadInt8 {
		m.value = float64(c.Node().Int("zero"))
	} else {
		m.value = c.Node().Float("value")
	}
	return m.action()
}

func buildTranspose(c *plan.Compiler) run.Action {
	if c.Shuffles() > 0 {
		return shuffled(c)
	}
	x, y := c.In(0), c.Out(0)
	from := x.Strides()
	src := region{strides: make([]int, len(from))}
	for i, axis := range c.Node().Ints("perm") {
		src.strides[i] = from[axis]
	}
	return moved(c, &move{x: x, y: y, shape: y.Shape, src: src, dst: all(y)})
}

// shuffled returns the action that interleaves the channels of groups. Each operand is a group, or the only
// operand consists of the groups.
func shuffled(c *plan.Compiler) run.Action {
	y, groups := c.Out(0), c.Shuffles()
	n, in, first := y.Channels/groups, make([]*run.Value, groups), make([]int, groups)
	for i := range in {
		in[i] = c.In(min(i, len(c.Node().In)-1))
		if len(c.Node().In) == 1 {
			first[i] = i * n
		} else if p, ok := c.Region(i); ok {
			first[i] = p.Begin[0]
		}
	}
	return run.BySpan(&run.ByRows{Work: y.Count / 8, Spans: run.Spans{Positions: y.Positions, Step: 1,
		Width: y.Channels, Pointwise: true, Span: func(f *run.Frame, w *run.Worker, i, from, to int) {
			var of [fusion.MostShuffled]kernel.Pixels
			for g, x := range in {
				of[g] = kernel.Pixels{Values: f.At(x, w, i)[from*x.Channels+first[g]:], Step: x.Channels}
			}
			dst := kernel.Pixels{Values: f.At(y, w, i)[from*y.Channels:], Step: y.Channels}
			f.Kernels.Shuffle(dst, of[:groups], n, to-from)
		}}})
}

func buildBroadcastTo(c *plan.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	return (&move{x: x, y: y, shape: y.Shape, src: region{strides: broadcast(x, y.Shape)}, dst: all(y)}).action()
}

// broadcast returns the strides for reading v as a value of the given shape.
func broadcast(v *run.Value, shape []int) []int {
	strides, out := v.Strides(), make([]int, len(shape))
	for i, n := range v.Shape {
		if n > 1 {
			out[len(shape)-len(strides)+i] = strides[i]
		}
	}
	return out
}

// buildReshape copies elements in logical order. This is a transposition if one value has its channels
// last, and two transpositions with temporary memory if both do.
func buildReshape(c *plan.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	switch {
	case inOrder(x) && inOrder(y):
		dst := region{strides: layout.RowMajor(x.Shape)}
		return moved(c, &move{x: x, y: y, shape: x.Shape, src: all(x), dst: dst})
	case x.Last && y.Last && x.Channels == y.Channels:
		pixels := region{strides: []int{1, x.Channels}}
		return moved(c, &move{x: x, y: y, shape: []int{x.Channels, x.Positions}, src: pixels, dst: pixels})
	case inOrder(y):
		return transposed(x, y, x.Positions, x.Channels)
	case inOrder(x):
		return transposed(x, y, y.Channels, y.Positions)
	}
	middle := c.TempValue(x.InOrder())
	first, second := transposed(x, middle, x.Positions, x.Channels),
		transposed(middle, y, y.Channels, y.Positions)
	return &run.ByRows{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) { // the second needs all of the first
		first.Row(f, w, i, 0, 1)
		second.Row(f, w, i, 0, 1)
	}}
}

// transposed returns the action that copies every row of x, [rows][columns] in
// memory, to y, [columns][rows].
func transposed(x, y *run.Value, rows, columns int) *run.ByRows {
	if x.DType.Size() == 1 {
		return &run.ByRows{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
			layout.TransposeBytes(f.Unit(y, w, y.Kind, i), f.Unit(x, w, y.Kind, i), rows, columns)
		}}
	}
	return &run.ByRows{Work: x.Count / 8, Row: func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
		from, to := schedule.Span(piece, pieces, columns)
		f.Kernels.TransposePart(f.At(y, w, i), f.At(x, w, i), rows, columns, from, to)
	}}
}

// inOrder reports whether the order of a unit's elements in memory is their logical order.
func inOrder(v *run.Value) bool { return !v.Last || v.Positions == 1 || v.Channels == 1 }
