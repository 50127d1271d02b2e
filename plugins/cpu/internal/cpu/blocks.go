package cpu

// blocks cuts the rows of each replica into blocks whose size depends on the
// shape alone. Sums run in order inside a block, and the blocks of a replica
// are added in order.
type blocks struct {
	rows int // of a block
}

// blocksOf returns blocks of at least 64 values per channel.
func blocksOf(v *value) blocks { return blocks{max(1, 64/max(v.positions, 1))} }

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

// blockwise computes a float64 value per replica from rows: do computes the
// part of one block, whose first row is given, from the rows of the operands;
// add adds a part to the total. Where a block is one row it goes with the rows.
func (c *compiler) blockwise(x, total *value, do func(f *frame, row int, part []float64, in [][]float32),
	add func(total, part []float64), operands ...*value) action {
	b, parts := blocksOf(x), c.temp(0, 0, 8*total.count)
	finish := func(f *frame) {
		all := temp[float64](f, parts, b.first(f, len(f.rows))*total.count)
		f.each(len(f.rows), func(w *worker, r int) {
			sum := w.doubles(total.count)
			clear(sum)
			for i := b.first(f, r); i < b.first(f, r+1); i++ {
				add(sum, row(all, total, i))
			}
			f.setDoubles(total, r, sum)
		})
	}
	if b.rows == 1 {
		return action{finish: finish, row: func(f *frame, w *worker, i, _, _ int) {
			for k, v := range operands {
				w.views[k] = f.at(v, w, i)
			}
			part := row(temp[float64](f, parts, f.total()*total.count), total, i)
			do(f, i, part, w.views[:len(operands)])
		}}
	}
	return whole(func(f *frame) error {
		all := temp[float64](f, parts, b.first(f, len(f.rows))*total.count)
		b.each(f, func(w *worker, block, from, to int) {
			for k, v := range operands {
				w.views[k] = f.f32(v)[from*v.count : to*v.count]
			}
			do(f, from, row(all, total, block), w.views[:len(operands)])
		})
		finish(f)
		return nil
	})
}

// setDoubles sets unit i of v, which is float64 or float32.
func (f *frame) setDoubles(v *value, i int, x []float64) {
	if v.DType.Size() == 8 {
		copy(row(f.f64(v), v, i), x)
		return
	}
	divideInto(row(f.f32(v), v, i), x, 1)
}
