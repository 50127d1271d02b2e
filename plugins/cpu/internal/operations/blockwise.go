package operations

import (
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// blockwise computes some float64 values for each replica (total) from the rows of operands. All operands
// have the same layout. compute computes the partial values of some positions of a block from these
// positions of the operands; row is the first row of the block. computeHalf does the same if all operands
// are halves. add adds partial values to the total.
type blockwise struct {
	x, total    *run.Value
	operands    []*run.Value
	compute     func(f *run.Frame, w *run.Worker, row int, partial []float64, in [][]float32)
	computeHalf func(f *run.Frame, w *run.Worker, row int, partial []float64, in [][]uint16)
	add         func(total, partial []float64)
}

// action returns the action that computes o. If a block is one row, the action is by rows.
func (o *blockwise) action(c *plan.Compiler) run.Action {
	b, partials := blocksOf(o.x), c.Temp(0, 0, 8*o.total.Count)
	finish := func(f *run.Frame) {
		all := run.Temp[float64](f, partials, b.first(f, len(f.Rows))*o.total.Count)
		f.Each(len(f.Rows), func(w *run.Worker, r int) { o.finish(f, w, all, r, b.first(f, r), b.first(f, r+1)) })
	}
	if b.rows == 1 {
		return &run.ByRows{Finish: finish, Storage: run.Storage{AsHalves: [][]*run.Value{o.operands}},
			Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
				o.row(f, w, i, run.Row(run.Temp[float64](f, partials, f.Total()*o.total.Count), o.total, i))
			}}
	}
	a := run.Whole(func(f *run.Frame) error {
		all := run.Temp[float64](f, partials, b.first(f, len(f.Rows))*o.total.Count)
		b.eachBlock(f, func(w *run.Worker, block, from, to int) {
			o.block(f, w, from, to, run.Row(all, o.total, block))
		})
		finish(f)
		return nil
	})
	for _, v := range o.operands {
		a.AsHalves = append(a.AsHalves, []*run.Value{v})
	}
	return a
}

// finish adds the partial values of blocks [from, to) along the tree. These are the blocks of replica r.
func (o *blockwise) finish(f *run.Frame, w *run.Worker, partials []float64, r, from, to int) {
	if from == to {
		none := w.Doubles(o.total.Count)
		clear(none)
		setDoubles(f, o.total, r, none)
		return
	}
	addAlongTree(collective.Node{From: 0, To: to - from}, func(to, i int) {
		o.add(run.Row(partials, o.total, from+to), run.Row(partials, o.total, from+i))
	})
	setDoubles(f, o.total, r, run.Row(partials, o.total, from))
}

// row computes the partial value of a block that is one row.
func (o *blockwise) row(f *run.Frame, w *run.Worker, i int, partial []float64) {
	half := run.Halves(o.operands...)
	eachSpan(w, o.x.Channels, o.x.Count, partial, func(partial []float64, from, to int) {
		for k, v := range o.operands {
			if half {
				w.HalfViews[k] = f.Half(v, w, i)[from:to]
			} else {
				w.Views[k] = f.At(v, w, i)[from:to]
			}
		}
		o.views(f, w, i, partial, half)
	}, o.add)
}

// views computes a partial value from the operands' values in w.Views, or in w.HalfViews if half is set.
func (o *blockwise) views(f *run.Frame, w *run.Worker, row int, partial []float64, half bool) {
	if half {
		o.computeHalf(f, w, row, partial, w.HalfViews[:len(o.operands)])
	} else {
		o.compute(f, w, row, partial, w.Views[:len(o.operands)])
	}
}

// block computes the partial value of rows [from, to), for an action that is not by rows.
func (o *blockwise) block(f *run.Frame, w *run.Worker, from, to int, partial []float64) {
	half, n := run.Halves(o.operands...), (to-from)*o.x.Count
	unpacked := w.Floats(len(o.operands) * n)
	for k, v := range o.operands {
		switch {
		case half:
			w.HalfViews[k] = layout.View[uint16](f.Bytes(v))[from*v.Count : to*v.Count]
		case v.IsHalf():
			w.Views[k] = unpacked[k*n : (k+1)*n]
			f.Kernels.WidenBF16(w.Views[k], layout.View[uint16](f.Bytes(v))[from*v.Count:to*v.Count])
		default:
			w.Views[k] = f.F32(v)[from*v.Count : to*v.Count]
		}
	}
	o.views(f, w, from, partial, half)
}

// setDoubles sets unit i of v to x. The elements of v are float64 or float32.
func setDoubles(f *run.Frame, v *run.Value, i int, x []float64) {
	if v.DType.Size() == 8 {
		copy(run.Row(f.F64(v), v, i), x)
		return
	}
	divideInto(run.Row(f.F32(v), v, i), x, 1)
}
