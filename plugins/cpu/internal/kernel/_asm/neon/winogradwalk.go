package main

import "fmt"

// Registers with the addresses of a grid: rows and columns at equal distances.
const (
	gridRow  = 1 // address of row 0; up to 5 more registers for the rows after it
	gridStep = 6 // the register after this one holds the distance of column 1, and so on
)

// columns computes the distances of n columns from column 0, given the distance of column 1.
func (f *file) columns(step string, n int) {
	f.load(step, gridStep+1)
	for j := 2; j < n; j++ {
		f.op("ADD R%d, R%d, R%d", gridStep+1, gridStep+j-1, gridStep+j)
	}
}

// rows computes the addresses of n rows from the address of the first.
func (f *file) rows(step, n int) {
	for i := 1; i < n; i++ {
		f.op("ADD R%d, R%d, R%d", step, gridRow+i-1, gridRow+i)
	}
}

// loadGrid loads the 16 bytes at a row and a column; storeGrid stores them.
func (f *file) loadGrid(d, row, column int) { f.loadColumn(d, gridRow+row, column) }

// loadColumn loads the 16 bytes at a column of the row that begins at the address in register base.
func (f *file) loadColumn(d, base, column int) {
	if column == 0 {
		f.op("FMOVQ (R%d), F%d", base, d)
	} else {
		f.loadAt(d, base, gridStep+column)
	}
}

func (f *file) storeGrid(d, row, column int) {
	if column == 0 {
		f.op("FMOVQ F%d, (R%d)", d, gridRow+row)
	} else {
		f.storeAt(d, gridRow+row, gridStep+column)
	}
}

// These registers have other uses in walks over tiles.
const (
	valueAt   = 12 // address of the next value of a tile, in the order of frequencies
	valueStep = 13
	free      = 0  // a free register
	more      = 25 // the first of two free registers
)

// tileParams names the parameters of a walk over tiles: the image, the transformed values, and the
// distances between the frequencies and between the tiles of these values.
type tileParams struct{ image, values, freq, tile string }

// eachVector writes a walk over adjacent tiles and their channels, four at a time. A tile is a grid of
// adjacent pixels; its values are valueStep apart. begin writes the code that begins each tile, and do
// writes the code for each vector of channels.
func (f *file) eachVector(p tileParams, side int, begin, do func()) {
	const now, left, image, values, tiles = 14, 15, 16, 19, 20
	const rowStep, valueTile, tileStep, vectors = 21, 22, 23, 24
	f.columns("colStep", side)
	f.loads(p.image, image, p.values, values, p.freq, valueStep, p.tile, valueTile, "rowStep", rowStep,
		"tileStep", tileStep, "tiles", tiles, "vectors", vectors)
	f.op("LSL $2, R%d, R%d", vectors, vectors)
	f.label("tile")
	f.op("MOVD R%d, R%d", image, gridRow)
	f.rows(rowStep, side)
	f.op("MOVD R%d, R%d", values, now)
	f.op("MOVD R%d, R%d", vectors, left)
	begin()
	f.label("vector")
	f.op("MOVD R%d, R%d", now, valueAt)
	do()
	for i := range side {
		f.op("ADD $16, R%d", gridRow+i)
	}
	f.op("ADD $16, R%d", now)
	f.op("SUBS $1, R%d, R%d", left, left)
	f.op("BNE vector")
	f.op("ADD R%d, R%d", tileStep, image)
	f.op("ADD R%d, R%d", valueTile, values)
	f.op("SUBS $1, R%d, R%d", tiles, tiles)
	f.op("BNE tile")
	f.op("RET")
}

// storeValue stores the next value of a tile.
func (f *file) storeValue(r int) {
	f.op("VST1.P %s, (R%d)(R%d)", vectors(r, 1), valueAt, valueStep)
}

// square makes a grid of n adjacent rows with n columns each. Its elements are pairs of neighbouring
// float32, which are processed as float64.
func (f *file) square(base, step string, n int) {
	f.columns(step, n)
	f.op("ADD R%d, R%d, R%d", gridStep+1, gridStep+n-1, free)
	f.load(base, gridRow)
	f.rows(free, n)
}

// loadWide loads the two float32 at a row and a column, converted to float64.
func (f *file) loadWide(d, row, column int) {
	at := fmt.Sprintf("(R%d)", gridRow+row)
	if column > 0 {
		at += fmt.Sprintf("(R%d)", gridStep+column)
	}
	f.op("FMOVD %s, F%d", at, d)
	f.widen(d, d)
}

// nextPair writes the end of the walk over count elements, two at a time, which began at the label
// "some". The walk reads n rows and writes to the address in register results.
func (f *file) nextPair(n, results, count int) {
	for i := range n {
		f.op("ADD $8, R%d", gridRow+i)
	}
	f.op("ADD $8, R%d", results)
	f.op("SUBS $2, R%d, R%d", count, count)
	f.op("BNE some")
	f.op("RET")
}
