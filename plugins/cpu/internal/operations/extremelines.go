package operations

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// An extreme is a maximum or a minimum. The extremes of many short lines, for example the best class of
// every box, are computed for some lines at once: the lines are transposed into memory of the worker, and
// halved there until one element of each is left.
//
//	lines    a0 a1 a2 a3 a4 | b0 b1 b2 b3 b4        transposed  a0 b0 | a1 b1 | a2 b2 | a3 b3 | a4 b4
//	                                                halved      a0,3 b0,3 | a1,4 b1,4 | a2 b2

const (
	longestLine = 256  // maximum number of elements of a line that is reduced together with others
	linesAtOnce = 64   // maximum number of lines that are transposed together
	lineSpare   = 8192 // maximum number of elements that are transposed together
)

// lineOf returns the length of the lines of x. Its reduction must have one element for each line in memory,
// in the order of the lines; otherwise lineOf returns 0. strides has the strides of the result for the axes
// of x.
func lineOf(x *run.Value, strides []int) int {
	shape, steps := slices.Clone(x.Shape), slices.Clone(strides)
	if x.Last { // the first axis of x is the last in memory
		shape, steps = append(shape[1:], shape[0]), append(steps[1:], steps[0])
	}
	n, outer := 1, len(shape)
	for outer > 0 && (steps[outer-1] == 0 || shape[outer-1] == 1) {
		outer--
		n *= shape[outer]
	}
	for axis, step := range layout.RowMajor(shape[:outer]) {
		if steps[axis] != step && shape[axis] != 1 {
			return 0
		}
	}
	return n
}

// extremeLines returns the action that sets y to the extreme of each line of n elements of x.
func extremeLines(op graph.Op, x, y *run.Value, n int) run.Action {
	some := max(1, min(linesAtOnce, lineSpare/n))
	row := func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
		e := extremesOf(f.Kernels, op, w.Floats(some*n))
		in, out := layout.View[float32](f.Unit(x, w, y.Kind, i)), layout.View[float32](f.Unit(y, w, y.Kind, i))
		for from, to := schedule.Span(piece, pieces, x.Count/n); from < to; from += some {
			end := min(from+some, to)
			e.lines(out[from:end], in[from*n:end*n], n)
		}
	}
	return run.ByUnit(y.Kind, &run.ByRows{Work: x.Count / 8, Row: row})
}

// lines sets every element of y to the extreme of a line of n elements of x.
func (e *extremes) lines(y, x []float32, n int) {
	side := e.spare[:len(x)]
	e.kernels.Transpose(side, x, len(y), n)
	for n > 1 {
		h := (n + 1) / 2
		rest := side[h*len(y) : n*len(y)]
		e.kernels.Combine(e.op, side[:len(rest)], side[:len(rest)], rest)
		n = h
	}
	copy(y, side)
}
