package operations

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// blocks cuts the rows of each replica into blocks whose size depends on the
// shape alone. Sums run in order inside a block, and the blocks of a replica
// are added in order.
type blocks struct {
	rows int // of a block
}

// blocksOf returns blocks of at least 64 values per channel.
func blocksOf(v *run.Value) blocks { return blocks{max(1, 64/max(v.Positions, 1))} }

// OneBlock reports whether a row of v is a block, and has its channels last.
func OneBlock(v graph.Variable) bool {
	x := run.NewValue(v)
	return x.Last && blocksOf(x).rows == 1
}

// each calls do for every block: its number among all, and its rows.
func (b blocks) each(f *run.Frame, do func(w *run.Worker, block, from, to int)) {
	f.Each(b.first(f, len(f.Rows)), func(w *run.Worker, block int) {
		r := 0
		for b.first(f, r+1) <= block {
			r++
		}
		from := f.Starts[r] + (block-b.first(f, r))*b.rows
		do(w, block, from, min(from+b.rows, f.Starts[r+1]))
	})
}

// first returns the number of the first block of replica r.
func (b blocks) first(f *run.Frame, r int) int {
	n := 0
	for _, rows := range f.Rows[:r] {
		n += (rows + b.rows - 1) / b.rows
	}
	return n
}

// blockwise is a float64 value per replica that is computed from rows, which lie
// as operands are: part computes what one block gives, whose first row is given,
// from the rows of the operands, half the same if all of them are halves; add adds
// a part to the total.
type blockwise struct {
	x, total *run.Value
	operands []*run.Value
	part     func(f *run.Frame, row int, part []float64, in [][]float32)
	half     func(f *run.Frame, row int, part []float64, in [][]uint16)
	add      func(total, part []float64)
}

// action returns what computes it. Where a block is one row it goes with the rows.
func (o *blockwise) action(c *run.Compiler) run.Action {
	b, parts := blocksOf(o.x), c.Temp(0, 0, 8*o.total.Count)
	finish := func(f *run.Frame) {
		all := run.Temp[float64](f, parts, b.first(f, len(f.Rows))*o.total.Count)
		f.Each(len(f.Rows), func(w *run.Worker, r int) {
			sum := w.Doubles(o.total.Count)
			clear(sum)
			for i := b.first(f, r); i < b.first(f, r+1); i++ {
				o.add(sum, run.Row(all, o.total, i))
			}
			setDoubles(f, o.total, r, sum)
		})
	}
	if b.rows == 1 {
		return run.Action{Finish: finish, AsHalves: [][]*run.Value{o.operands},
			Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
				o.row(f, w, i, run.Row(run.Temp[float64](f, parts, f.Total()*o.total.Count), o.total, i))
			}}
	}
	a := run.Whole(func(f *run.Frame) error {
		all := run.Temp[float64](f, parts, b.first(f, len(f.Rows))*o.total.Count)
		b.each(f, func(w *run.Worker, block, from, to int) {
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

// row computes the part of a block that is one row.
func (o *blockwise) row(f *run.Frame, w *run.Worker, i int, part []float64) {
	if run.Halves(o.operands...) {
		for k, v := range o.operands {
			w.HalfViews[k] = f.Half(v, w, i)
		}
		o.half(f, i, part, w.HalfViews[:len(o.operands)])
		return
	}
	for k, v := range o.operands {
		w.Views[k] = f.At(v, w, i)
	}
	o.part(f, i, part, w.Views[:len(o.operands)])
}

// block computes the part of rows [from, to), which no action by rows does.
func (o *blockwise) block(f *run.Frame, w *run.Worker, from, to int, part []float64) {
	if run.Halves(o.operands...) {
		for k, v := range o.operands {
			w.HalfViews[k] = f.AllHalf(v)[from*v.Count : to*v.Count]
		}
		o.half(f, from, part, w.HalfViews[:len(o.operands)])
		return
	}
	n := (to - from) * o.x.Count
	room := w.Floats(len(o.operands) * n)
	for k, v := range o.operands {
		if !v.Half {
			w.Views[k] = f.F32(v)[from*v.Count : to*v.Count]
			continue
		}
		w.Views[k] = room[k*n : (k+1)*n]
		f.Kernels.WidenBF16(w.Views[k], f.AllHalf(v)[from*v.Count:to*v.Count])
	}
	o.part(f, from, part, w.Views[:len(o.operands)])
}

// setDoubles sets unit i of v, which is float64 or float32.
func setDoubles(f *run.Frame, v *run.Value, i int, x []float64) {
	if v.DType.Size() == 8 {
		copy(run.Row(f.F64(v), v, i), x)
		return
	}
	divideInto(run.Row(f.F32(v), v, i), x, 1)
}
