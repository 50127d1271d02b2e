package main

import "fmt"

// inputNumbers returns the constants for transforming tiles of the input, without signs.
func (w winogradForm) inputNumbers() (n []float64) {
	if len(w.Pairs) == 1 {
		return nil
	}
	for _, v := range w.Coefficients() {
		n = append(n, max(v, -v))
	}
	return append(n, w.powers(3)...)
}

// edge sets acc to the value at 0 or infinity of a row or column. last is the register of
// its last value, and get returns the register of value i.
func (w winogradForm) edge(n *numbers, acc, last int, get func(i int) int) {
	for i := len(w.Pairs) - 1; i >= 0; i-- {
		n.add(acc, last, w.Coefficients()[i], get(i))
		last = acc
	}
}

// winogradInput transforms adjacent tiles.
func winogradInput(f *file, w winogradForm) {
	f.function(fmt.Sprintf("winogradInputNEONt%d", w.Tile()), "v *float32, vFreq int, vTile int, in *float32, "+
		"rowStep int, colStep int, tileStep int, tiles int, vectors int")
	n := f.numbers(singles, 30, free, w.inputNumbers()...)
	f.eachVector(tileParams{"in", "v", "vFreq", "vTile"}, w.Tile(), func() {}, func() {
		w.inputEdge(n, 0)
		w.inputPairs(n)
		w.inputEdge(n, 1)
	})
}

// inputEdge transforms the columns of a tile at 0 (first = 0) or infinity (first = 1), and the resulting
// row.
func (w winogradForm) inputEdge(n *numbers, first int) {
	x := registers(0, w.Tile())
	for j, acc := range x {
		n.loadGrid(acc, first+2*len(w.Pairs), j)
		w.edge(n, acc, acc, func(i int) int {
			n.loadGrid(w.Tile()+i, first+2*i, j)
			return w.Tile() + i
		})
	}
	w.inputRow(n, x, w.Tile())
}

// inputPairs transforms the columns of a tile at the points other than 0 and infinity, and the resulting
// rows.
func (w winogradForm) inputPairs(n *numbers) {
	size, points := w.Tile(), 2*len(w.Pairs)
	at := func(i, j int) int { return i*size + j }
	odd, lower := points*size, points*size+1 // the register after lower is free, too
	for j := range size {
		for part := range 2 * (len(w.Pairs) - 1) {
			n.loadGrid(lower+part, 2-part, j)
		}
		for i, p := range w.Pairs {
			even := at(2*i+1, j)
			n.loadGrid(even, size-2, j)
			n.loadGrid(odd, size-3, j)
			if q, ok := w.Other(i); ok {
				n.add(even, even, q, lower)
				n.add(odd, odd, q, lower+1)
			}
			n.add(at(2*i, j), even, p, odd)
			n.add(even, even, -p, odd)
		}
	}
	for i := range points {
		w.inputRow(n, registers(at(i, 0), size), points*size)
	}
}

// inputRow transforms a row in the registers x, which it changes, and stores it; spare is the
// first of three free registers.
func (w winogradForm) inputRow(n *numbers, x []int, spare int) {
	size, even, odd := w.Tile(), spare+1, spare+2
	w.edge(n, spare, x[size-2], func(i int) int { return x[2*i] })
	n.storeValue(spare)
	w.edge(n, x[size-1], x[size-1], func(i int) int { return x[1+2*i] })
	for i, p := range w.Pairs {
		if i == len(w.Pairs)-1 {
			even, odd = x[size-2], x[size-3]
		}
		if q, ok := w.Other(i); ok {
			n.add(even, x[size-2], q, x[size-4])
			n.add(odd, x[size-3], q, x[size-5])
		}
		n.add(spare, even, p, odd)
		n.storeValue(spare)
		n.add(even, even, -p, odd)
		n.storeValue(even)
	}
	n.storeValue(x[size-1])
}

// registers returns the numbers of n registers from first on.
func registers(first, n int) []int {
	r := make([]int, n)
	for i := range r {
		r[i] = first + i
	}
	return r
}
