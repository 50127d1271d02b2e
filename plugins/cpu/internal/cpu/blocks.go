package cpu

import "github.com/bnctl/bnctl/graph"

// blocks cuts the rows of each replica into blocks whose size depends on the
// shape alone. Sums run in order inside a block, and the blocks of a replica
// are added in order.
type blocks struct {
	rows int // of a block
}

// blocksOf returns blocks of at least 64 values per channel.
func blocksOf(v *value) blocks { return blocks{max(1, 64/max(v.positions, 1))} }

// oneBlock reports whether a row of v is a block, and has its channels last.
func oneBlock(v graph.Variable) bool {
	x := newValue(v)
	return x.last && blocksOf(x).rows == 1
}

// each calls do for every block: its number among all, and its rows.
func (b blocks) each(f *frame, do func(w *worker, block, from, to int)) {
	f.each(b.first(f, len(f.rows)), func(w *worker, block int) {
		r := 0
		for b.first(f, r+1) <= block {
			r++
		}
		from := f.starts[r] + (block-b.first(f, r))*b.rows
		do(w, block, from, min(from+b.rows, f.starts[r+1]))
	})
}

// first returns the number of the first block of replica r.
func (b blocks) first(f *frame, r int) int {
	n := 0
	for _, rows := range f.rows[:r] {
		n += (rows + b.rows - 1) / b.rows
	}
	return n
}

// blockwise is a float64 value per replica that is computed from rows, which lie
// as operands are: part computes what one block gives, whose first row is given,
// from the rows of the operands, half the same if all of them are halves; add adds
// a part to the total.
type blockwise struct {
	x, total *value
	operands []*value
	part     func(f *frame, row int, part []float64, in [][]float32)
	half     func(f *frame, row int, part []float64, in [][]uint16)
	add      func(total, part []float64)
}

// action returns what computes it. Where a block is one row it goes with the rows.
func (o *blockwise) action(c *compiler) action {
	b, parts := blocksOf(o.x), c.temp(0, 0, 8*o.total.count)
	finish := func(f *frame) {
		all := temp[float64](f, parts, b.first(f, len(f.rows))*o.total.count)
		f.each(len(f.rows), func(w *worker, r int) {
			sum := w.doubles(o.total.count)
			clear(sum)
			for i := b.first(f, r); i < b.first(f, r+1); i++ {
				o.add(sum, row(all, o.total, i))
			}
			f.setDoubles(o.total, r, sum)
		})
	}
	if b.rows == 1 {
		return action{finish: finish, asHalves: [][]*value{o.operands},
			row: func(f *frame, w *worker, i, _, _ int) {
				o.row(f, w, i, row(temp[float64](f, parts, f.total()*o.total.count), o.total, i))
			}}
	}
	a := whole(func(f *frame) error {
		all := temp[float64](f, parts, b.first(f, len(f.rows))*o.total.count)
		b.each(f, func(w *worker, block, from, to int) { o.block(f, w, from, to, row(all, o.total, block)) })
		finish(f)
		return nil
	})
	for _, v := range o.operands {
		a.asHalves = append(a.asHalves, []*value{v})
	}
	return a
}

// row computes the part of a block that is one row.
func (o *blockwise) row(f *frame, w *worker, i int, part []float64) {
	if halves(o.operands...) {
		for k, v := range o.operands {
			w.halfViews[k] = f.half(v, w, i)
		}
		o.half(f, i, part, w.halfViews[:len(o.operands)])
		return
	}
	for k, v := range o.operands {
		w.views[k] = f.at(v, w, i)
	}
	o.part(f, i, part, w.views[:len(o.operands)])
}

// block computes the part of rows [from, to), which no action by rows does.
func (o *blockwise) block(f *frame, w *worker, from, to int, part []float64) {
	if halves(o.operands...) {
		for k, v := range o.operands {
			w.halfViews[k] = f.allHalf(v)[from*v.count : to*v.count]
		}
		o.half(f, from, part, w.halfViews[:len(o.operands)])
		return
	}
	n := (to - from) * o.x.count
	room := w.floats(len(o.operands) * n)
	for k, v := range o.operands {
		if !v.half {
			w.views[k] = f.f32(v)[from*v.count : to*v.count]
			continue
		}
		w.views[k] = room[k*n : (k+1)*n]
		f.kernels.WidenBF16(w.views[k], f.allHalf(v)[from*v.count:to*v.count])
	}
	o.part(f, from, part, w.views[:len(o.operands)])
}

// setDoubles sets unit i of v, which is float64 or float32.
func (f *frame) setDoubles(v *value, i int, x []float64) {
	if v.DType.Size() == 8 {
		copy(row(f.f64(v), v, i), x)
		return
	}
	divideInto(row(f.f32(v), v, i), x, 1)
}
