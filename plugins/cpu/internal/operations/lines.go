package operations

import (
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// A layer norm sums over lines of a row. The walks over channels (package kernel) sum over
// positions, for any number of adjacent channels. Interleaved lines are used as the channels
// of a walk, and the elements of a line as its positions.
//
// 	f32[H,W,C], axes=[2]    in memory [W][C][H]    W blocks of C positions of H lines
// 	f32[C,H,W], axes=[0]    in memory [H*W][C]     separate lines: some are interleaved
// 	f32[T,C], axes=[1], in the order of its shape (run.Value.SetInOrder): the same
//
// Lines that are separate, or interleaved in numbers too small for vectors, are copied: see
// gathered.

// lineLayout is the memory layout of the lines of a row.
type lineLayout struct {
	kernels     *kernel.Set
	length      int   // number of elements of a line
	interleaved int   // number of lines that are interleaved in memory; 0: lines are separate
	tight       bool  // lines are contiguous and follow each other
	bases       []int // offset of the first element of each line
	offsets     []int // offset of each element from the offset of its line
}

// lineLayoutOf returns the layout of the lines of x.
func lineLayoutOf(c *plan.Compiler, x *run.Value) *lineLayout {
	length, step := c.Node().Lines(x.Shape)
	first := c.Node().Ints("axes")[0]
	l := &lineLayout{kernels: c.Kernels(), length: length}
	switch {
	case !x.Last && step > 1:
		l.interleaved = step
	case x.Last && first > 0:
		l.interleaved = step * x.Channels
	default:
		l.tight = !x.Last || length == x.Channels
	}
	strides := x.Strides()
	over, others := append([]int{}, x.Shape...), append([]int{}, x.Shape...)
	for a := range x.Shape {
		if a < first || a >= first+len(c.Node().Ints("axes")) {
			over[a] = 1
		} else {
			others[a] = 1
		}
	}
	l.offsets, l.bases = offsetsOf(over, strides), offsetsOf(others, strides)
	return l
}

// offsetsOf returns the offset of each element of a shape, in logical order.
func offsetsOf(shape, strides []int) []int {
	var all []int
	layout.Walk(shape, layout.RowMajor(shape), strides, nil, func(n, _, at, _, _, step, _ int) {
		for k := range n {
			all = append(all, at+k*step)
		}
	})
	return all
}

// sideBySideLines is the number of lines that are copied and interleaved at once.
const sideBySideLines = 32

// inPlace reports whether the lines are processed without copying them: enough lines are interleaved for
// vectors, and there are enough blocks for all pieces.
func (l *lineLayout) inPlace(pieces int) bool {
	const lanes = 8
	return l.interleaved > 0 && 5*(l.interleaved%lanes) <= 2*l.interleaved && (pieces == 1 ||
		len(l.bases)/l.interleaved >= pieces)
}

// lineWork computes n interleaved lines of y from the same lines of the operands. y may be an operand.
// scratch holds 5*n values.
type lineWork func(w *run.Worker, y []float32, in [][]float32, n int, scratch []float32)

// eachPiece divides the lines of a row into pieces parts, and does work for the part with index piece.
func (l *lineLayout) eachPiece(w *run.Worker, y []float32, in [][]float32, piece, pieces int, work lineWork) {
	if !l.inPlace(pieces) {
		l.chunks(piece, pieces, func(from, n int) { l.gathered(w, y, in, from, n, work) })
		return
	}
	blocks, size := len(l.bases)/l.interleaved, l.interleaved*l.length
	views := make([][]float32, len(in))
	for b, end := schedule.RangeOf(piece, pieces, blocks); b < end; b++ {
		for k := range in {
			views[k] = in[k][b*size:][:size]
		}
		work(w, y[b*size:][:size], views, l.interleaved, w.Floats(5*l.interleaved))
	}
}

// chunks does the same as each with groups of lines that are interleaved at once: do receives the first
// line and the number of lines of a group.
func (l *lineLayout) chunks(piece, pieces int, do func(first, n int)) {
	all := (len(l.bases) + sideBySideLines - 1) / sideBySideLines
	for i, end := schedule.RangeOf(piece, pieces, all); i < end; i++ {
		do(i*sideBySideLines, min(sideBySideLines, len(l.bases)-i*sideBySideLines))
	}
}

// gathered copies n lines so that they are interleaved, does work for them, and copies the results back.
func (l *lineLayout) gathered(w *run.Worker, y []float32, in [][]float32, first, n int, work lineWork) {
	size := n * l.length
	scratch := w.Floats(len(in)*size + 5*n)
	views := make([][]float32, len(in))
	for k := range in {
		views[k], scratch = scratch[:size], scratch[size:]
		l.gather(views[k], in[k], first, n)
	}
	work(w, views[0], views, n, scratch)
	l.scatter(y, views[0], first, n)
}

// gather copies n lines of x to contiguous memory, where they are interleaved.
func (l *lineLayout) gather(dst, x []float32, first, n int) {
	if l.tight {
		l.kernels.Transpose(dst, x[first*l.length:], n, l.length)
		return
	}
	for k, offset := range l.offsets {
		line := dst[k*n:][:n]
		for i, base := range l.bases[first : first+n] {
			line[i] = x[base+offset]
		}
	}
}

// scatter copies n interleaved lines to their places in y.
func (l *lineLayout) scatter(y, x []float32, first, n int) {
	if l.tight {
		l.kernels.Transpose(y[first*l.length:], x, l.length, n)
		return
	}
	for k, offset := range l.offsets {
		line := x[k*n:][:n]
		for i, base := range l.bases[first : first+n] {
			y[base+offset] = line[i]
		}
	}
}
