package main

import "fmt"

// Tiles lie side by side; every transform takes 4 channels at a time. Registers
// 0 to 11 hold two rows or columns of a tile, those from 12 on what they become.
const (
	firstTransformed = 12
	firstLoaded      = 16 // four, which take turns
	firstConstant    = 26
)

// walk is the general registers of a transform: rows of pixels, and what
// advances from vector to vector and from tile to tile.
type walk struct {
	f    *file
	rows int // R1 to R(rows) are rows of pixels
	turn int // of the registers that are loaded
}

// The registers of a walk: col+j holds j steps from pixel to pixel; pixels and
// frequencies lie at pixelAt and frequencyAt of the tile at hand.
const (
	column, frequency, step, pixelAt, frequencyAt, vectorAt = 6, 12, 13, 14, 15, 19
	tiles, left, tileStep, transformedStep, rowStep, all    = 20, 21, 22, 23, 24, 25
)

// begin loads the parameters; transformed and its steps are named by their
// parameters.
func (w *walk) begin(columns int, pixels, transformed, freq, tile string) {
	f := w.f
	f.loads(pixels, pixelAt, transformed, frequencyAt, freq, step, "tiles", tiles,
		"tileStep", tileStep, tile, transformedStep, "rowStep", rowStep, "vectors", all, "colStep", column+1)
	f.op("LSL $2, R%d, R%d", all, all)
	for j := 2; j < columns; j++ {
		f.op("ADD R%d, R%d, R%d", column+1, column+j-1, column+j)
	}
}

// each writes the loops over tiles and vectors around do.
func (w *walk) each(do func()) {
	f := w.f
	f.label("tile")
	f.op("CBZ R%d, end", tiles)
	f.op("MOVD R%d, R1", pixelAt)
	for i := 1; i < w.rows; i++ {
		f.op("ADD R%d, R%d, R%d", rowStep, i, i+1)
	}
	f.op("MOVD R%d, R%d", frequencyAt, vectorAt)
	f.op("MOVD R%d, R%d", all, left)
	f.label("vector")
	f.op("MOVD R%d, R%d", vectorAt, frequency)
	do()
	for i := range w.rows {
		f.op("ADD $16, R%d", i+1)
	}
	f.op("ADD $16, R%d", vectorAt)
	f.op("SUBS $1, R%d, R%d", left, left)
	f.op("BNE vector")
	f.op("ADD R%d, R%d", tileStep, pixelAt)
	f.op("ADD R%d, R%d", transformedStep, frequencyAt)
	f.op("SUB $1, R%d, R%d", tiles, tiles)
	f.op("B tile")
	f.label("end")
	f.op("RET")
}

// pixel returns a function that loads row k of column j.
func (w *walk) pixel(j int) func(k int) int {
	return func(k int) int {
		r := firstLoaded + w.turn%4
		w.turn++
		if j == 0 {
			w.f.op("FMOVQ (R%d), F%d", k+1, r)
		} else {
			w.f.loadAt(k+1, column+j, r)
		}
		return r
	}
}

// store stores the next frequency.
func (w *walk) store(_, r int) { w.f.op("VST1.P %s, (R%d)(R%d)", vectors(r, 1), frequency, step) }

// held returns a function that gives registers from first on.
func held(first int) func(k int) int { return func(k int) int { return first + k } }

// winogradInput transforms tiles of the input, columns first.
func winogradInput(f *file, t form) {
	n := t.tile()
	f.function(fmt.Sprintf("winogradInputNEONf%d", t.side), "v *float32, vFreq int, vTile int, "+
		"in *float32, rowStep int, colStep int, tileStep int, tiles int, vectors int")
	w, c := &walk{f: f, rows: n}, &constants{first: firstConstant}
	w.begin(n, "in", "v", "vFreq", "vTile")
	c.hold(f, t.inputConstants()...)
	w.each(func() {
		across := func(first int) { t.into(f, c, held(first), firstTransformed, w.store) }
		for j := range n {
			t.horner(f, c, w.pixel(j), n-2, t.except(-1), j)
		}
		across(0)
		for i, p := range t.pairs {
			for j := range n {
				t.horner(f, c, w.pixel(j), n-2, t.except(i), j)
				t.horner(f, c, w.pixel(j), n-3, t.except(i), firstTransformed)
				f.move(6+j, j)
				c.add(f, p, firstTransformed, 6+j)
				c.add(f, -p, firstTransformed, j)
			}
			across(6)
			across(0)
		}
		for j := range n {
			t.horner(f, c, w.pixel(j), n-1, t.except(-1), j)
		}
		across(0)
	})
}

// inputConstants returns the sizes of what into multiplies with.
func (t form) inputConstants() []float64 {
	if t.side == 2 {
		return []float64{1}
	}
	a, b := t.pairs[0], t.pairs[1]
	return []float64{a, b, a * a, b * b, a * a * b * b, a*a + b*b}
}

// winogradSpreadOut transforms tiles of a result's gradient, columns first.
func winogradSpreadOut(f *file, t form) {
	f.function(fmt.Sprintf("winogradGradientNEONf%d", t.side), "v *float32, vFreq int, vTile int, "+
		"in *float32, rowStep int, colStep int, tileStep int, tiles int, vectors int")
	w, c := &walk{f: f, rows: t.side}, &constants{first: firstConstant}
	w.begin(t.side, "in", "v", "vFreq", "vTile")
	for _, p := range t.pairs {
		if c.hold(f, p); p*p != p {
			c.hold(f, p*p)
		}
	}
	w.each(func() {
		across := func(first int) { t.points(f, c, held(first), firstTransformed, w.store) }
		// plain transforms a row of the pixels as it is.
		plain := func(row int) {
			for j := range t.side {
				f.move(j, w.pixel(j)(row))
			}
			across(0)
		}
		plain(0)
		for _, p := range t.pairs {
			for j := range t.side {
				x, odd := w.pixel(j), firstTransformed
				f.move(j, x(0))
				f.move(odd, x(1))
				if t.side == 4 {
					c.add(f, p*p, x(2), j)
					c.add(f, p*p, x(3), odd)
				}
				f.move(6+j, j)
				c.add(f, p, odd, 6+j)
				c.add(f, -p, odd, j)
			}
			across(6)
			across(0)
		}
		plain(t.side - 1)
	})
}

// winogradOutput computes the outputs of tiles, rows first, adds a bias and ends them.
func winogradOutput(f *file, t form) {
	const bias, apart, most, at, bound, mask, zero = 10, 11, 26, 17, 24, 25, 23
	f.function(fmt.Sprintf("winogradOutputNEONf%d", t.side), "out *float32, rowStep int, colStep int, "+
		"tileStep int, m *float32, mFreq int, mTile int, bias *float32, "+endingParams+", tiles int, vectors int")
	n := t.tile()
	w, c := &walk{f: f, rows: t.side}, &constants{first: firstConstant}
	w.begin(t.side, "out", "m", "mFreq", "mTile")
	c.hold(f, t.outputConstants()...)
	f.load("plus", apart)
	f.load("out", at)
	f.op("CBZ R%d, nothing", apart)
	f.op("SUB R%d, R%d, R%d", at, apart, apart)
	f.label("nothing")
	f.load("most", most)
	f.op("CBZ R%d, tile", most)
	f.op("VLD1R (R%d), [V%d.S4]", most, bound)
	w.each(func() {
		f.load("bias", bias)
		f.op("SUB R%d, R%d, R%d", left, all, at)
		f.op("ADD R%d<<4, R%d, R%d", at, bias, bias)
		f.op("VLD1 (R%d), %s", bias, vectors(zero, 1))
		for parity := range 2 {
			f.op("MOVD R%d, R%d", vectorAt, frequency)
			for i := range n {
				for k := range n {
					f.op("VLD1.P (R%d)(R%d), %s", frequency, step, vectors(firstLoaded+k, 1))
				}
				for j := parity; j < t.side; j += 2 {
					t.back(f, c, held(firstLoaded), j, firstTransformed, j/2*6+i)
				}
			}
			for j := parity; j < t.side; j += 2 {
				for y := range t.side {
					const r = firstTransformed + 1
					t.back(f, c, held(j/2*6), y, firstTransformed, r)
					f.fadd(r, r, zero)
					f.op("MOVD R%d, R%d", y+1, at)
					if j > 0 {
						f.op("ADD R%d, R%d", column+j, at)
					}
					f.endOne(r, firstTransformed, mask, bound, at, apart, most, fmt.Sprint(j, "_", y))
					f.op("VST1 %s, (R%d)", vectors(r, 1), at)
				}
			}
		}
	})
}

// endOne ends result r, which goes to where at points; what is added lies apart
// bytes from there; apart and most are 0 where nothing is to be done.
func (f *file) endOne(r, free, mask, bound, at, apart, most int, name string) {
	f.op("CBZ R%d, bounds%s", apart, name)
	f.loadAt(at, apart, free)
	f.fadd(r, r, free)
	f.label("bounds" + name)
	f.op("CBZ R%d, write%s", most, name)
	f.negative(mask, r)
	f.bic(r, r, mask)
	f.fcmgt(mask, r, bound)
	f.bit(r, bound, mask)
	f.label("write" + name)
}

// outputConstants returns what back multiplies with.
func (t form) outputConstants() []float64 {
	numbers := []float64{1}
	if t.side == 4 {
		for _, p := range t.pairs {
			numbers = append(numbers, p, p*p, p*p*p)
		}
	}
	return numbers
}
