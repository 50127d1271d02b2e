package main

import "math"

// winogradOutput computes the outputs of adjacent tiles. All outputs of a tile are in the first registers
// before the epilogue is applied.
func winogradOutput(f *file, w winogradForm) {
	f.function(w.name("Output"), "out *float32, rowStep int, colStep int, tileStep int, m *float32, mFreq int, "+
		"mTile int, bias *float32, "+epilogueParams+", tiles int, vectors int")
	const apart, bias = more, more + 1 // register apart holds the distance in bytes from out to plus
	n := f.numbers(singles, 30, free, w.powers(w.Side)...)
	f.load("plus", apart)
	f.load("out", free)
	f.op("SUB R%d, R%d", free, apart)
	results, spare := w.Side*w.Side, w.Side*w.Tile()
	f.eachVector(tileParams{"out", "m", "mFreq", "mTile"}, w.Side, func() { f.load("bias", bias) }, func() {
		for i := range w.Tile() {
			w.outputRow(n, i, spare)
		}
		for x := range w.Side {
			m := w.column(x)
			w.back(n, m, w.ends(m), spare)
		}
		f.op("VLD1.P 16(R%d), %s", bias, vectors(spare, 1))
		for r := range results {
			f.fadd(r, r, spare)
		}
		f.epilogue(results, spare, func() {
			for y := range w.Side {
				f.op("ADD R%d, R%d, R17", apart, gridRow+y)
				for x := range w.Side {
					f.loadColumn(spare, 17, x)
					f.fadd(w.ends(w.column(x))[y], w.ends(w.column(x))[y], spare)
				}
			}
		})
		for y := range w.Side {
			for x := range w.Side {
				f.storeGrid(w.ends(w.column(x))[y], y, x)
			}
		}
	})
}

// column returns the registers of column x of the transformed rows. The registers that will
// hold outputs are the first of all columns.
func (w winogradForm) column(x int) []int {
	r, later := make([]int, w.Tile()), w.Side*w.Side+x*(w.Tile()-w.Side)
	for i := range r {
		r[i] = -1
	}
	for y, end := range w.ends(registers(0, w.Tile())) {
		r[end] = x*w.Side + y
	}
	for i := range r {
		if r[i] < 0 {
			r[i] = later
			later++
		}
	}
	return r
}

// ends returns the registers that hold the outputs of a row or column at the end.
func (w winogradForm) ends(m []int) []int {
	if w.Side == 2 {
		return []int{m[0], m[len(m)-1]}
	}
	return []int{m[0], m[2], m[4], m[5]}
}

// outputRow loads row i of a tile and puts its inverse transform into register i of each
// column. spare is the first free register; a row needs one for each value.
func (w winogradForm) outputRow(n *numbers, i, spare int) {
	y := make([]int, w.Side)
	for x := range y {
		y[x] = w.column(x)[i]
	}
	m := registers(spare-1, w.Tile())
	m[0], m[w.Tile()-1] = y[0], y[w.Side-1]
	for _, r := range m {
		n.op("VLD1.P (R%d)(R%d), %s", valueAt, valueStep, vectors(r, 1))
	}
	w.back(n, m, y, spare+w.Tile()-2)
}

// back sets y to the outputs of the values m at the points, and changes m. The first and
// the last of y share their registers with m. spare is the first of the free registers, one
// per pair.
func (w winogradForm) back(n *numbers, m, y []int, spare int) {
	for i := range w.Pairs {
		n.fadd(spare+i, m[1+2*i], m[2+2*i])
		n.fsub(m[1+2*i], m[1+2*i], m[2+2*i])
	}
	for j, acc := range y {
		for i, p := range w.Pairs {
			s, v := spare+i, math.Pow(p, float64(j))
			if j%2 == 1 {
				s = m[1+2*i]
			}
			if i == 0 && j > 0 && j < w.Side-1 {
				n.times(acc, v, s)
			} else {
				n.add(acc, acc, v, s)
			}
		}
	}
}
