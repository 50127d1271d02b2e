package main

import (
	"fmt"
	"math"
)

// form is a choice of points: 0, plus and minus each of pairs, and infinity.
// class.Tiles states what is computed.
type form struct {
	side  int // outputs of a tile, along one side
	pairs []float64
}

var forms = []form{{2, []float64{1}}, {4, []float64{0.75, 1.5}}}

// tile returns the inputs of a tile along one side.
func (w form) tile() int { return w.side + 2 }

// winograd writes the transforms of tiles and the products between them.
func winograd(f *file) {
	for _, w := range forms {
		winogradInput(f, w)
		winogradOutput(f, w)
	}
	for p := 5; p > 0; p-- {
		winogradProduct(f, p)
	}
	winogradSpread(f)
}

// winogradgradient writes the transform of tiles of a result's gradient.
func winogradgradient(f *file) {
	for _, w := range forms {
		winogradSpreadOut(f, w)
	}
}

// constants keeps numbers in elements of the registers from first on.
type constants struct {
	first int
	made  []float64
}

// hold loads positive numbers; R17 is overwritten.
func (c *constants) hold(f *file, numbers ...float64) {
	for _, v := range numbers {
		if float64(float32(v)) != v || v < 0 {
			panic("neon: a constant that is no positive float32")
		}
		i := len(c.made)
		f.op("MOVD $0x%08x, R17 // %v", math.Float32bits(float32(v)), v)
		f.op("VMOV R17, V%d.S[%d]", c.first+i/4, i%4)
		c.made = append(c.made, v)
	}
}

// add adds v times x to acc, rounded once.
func (c *constants) add(f *file, v float64, x, acc int) {
	for i, made := range c.made {
		switch {
		case made == v:
			f.fmla(acc, x, c.first+i/4, i%4)
			return
		case made == -v:
			f.fmls(acc, x, c.first+i/4, i%4)
			return
		}
	}
	panic(fmt.Sprintf("neon: the constant %v is not held", v))
}

// times sets acc to v times x.
func (c *constants) times(f *file, v float64, x, acc int) {
	for i, made := range c.made {
		if made == v {
			f.times(acc, x, c.first+i/4, i%4)
			return
		}
	}
	panic(fmt.Sprintf("neon: the constant %v is not held", v))
}

// except returns the coefficients of x^0 and x^2, without the last, which is 1,
// of the product of x^2 - p^2 over all pairs but pair i; -1 for all.
func (w form) except(i int) []float64 {
	poly := []float64{1}
	for k, p := range w.pairs {
		if k == i {
			continue
		}
		next := make([]float64, len(poly)+1)
		for j, c := range poly {
			next[j] -= c * p * p
			next[j+1] += c
		}
		poly = next
	}
	return poly[:len(poly)-1]
}

// horner sets acc to x[last] + coefficients * (x[last-2], x[last-4], ...).
func (w form) horner(f *file, c *constants, x func(k int) int, last int, coefficients []float64, acc int) {
	f.move(acc, x(last))
	for k := len(coefficients) - 1; k >= 0; k-- {
		last -= 2
		c.add(f, coefficients[k], x(last), acc)
	}
}

// into gives the values of a row or column of a tile at the points, one after
// the other, to store; it uses two registers from free on.
func (w form) into(f *file, c *constants, x func(k int) int, free int, store func(j, r int)) {
	n := w.tile()
	w.horner(f, c, x, n-2, w.except(-1), free)
	store(0, free)
	for i, p := range w.pairs {
		even, odd := free, free+1
		w.horner(f, c, x, n-2, w.except(i), even)
		w.horner(f, c, x, n-3, w.except(i), odd)
		w.plusMinus(f, c, i, p, even, odd, store)
	}
	w.horner(f, c, x, n-1, w.except(-1), free)
	store(n-1, free)
}

// plusMinus gives even + p odd and even - p odd to store; it uses one more
// register behind odd.
func (w form) plusMinus(f *file, c *constants, i int, p float64, even, odd int, store func(j, r int)) {
	f.move(odd+1, even)
	c.add(f, p, odd, odd+1)
	store(1+2*i, odd+1)
	c.add(f, -p, odd, even)
	store(2+2*i, even)
}

// points is into for the gradient of a tile's outputs.
func (w form) points(f *file, c *constants, x func(k int) int, free int, store func(j, r int)) {
	store(0, x(0))
	for i, p := range w.pairs {
		even, odd := free, free+1
		f.move(even, x(0))
		f.move(odd, x(1))
		if w.side == 4 {
			c.add(f, p*p, x(2), even)
			c.add(f, p*p, x(3), odd)
		}
		w.plusMinus(f, c, i, p, even, odd, store)
	}
	store(w.tile()-1, x(w.side-1))
}

// back sets acc to output j of a row or column of products; it uses register s.
func (w form) back(f *file, c *constants, x func(k int) int, j, s, acc int) {
	for i, p := range w.pairs {
		v := math.Pow(p, float64(j))
		if j%2 == 0 {
			f.fadd(s, x(1+2*i), x(2+2*i))
		} else {
			f.fsub(s, x(1+2*i), x(2+2*i))
		}
		switch {
		case i > 0:
			c.add(f, v, s, acc)
		case j == 0:
			f.fadd(acc, x(0), s)
		case j == w.side-1:
			f.move(acc, x(w.tile()-1))
			c.add(f, v, s, acc)
		default:
			c.times(f, v, s, acc)
		}
	}
}
