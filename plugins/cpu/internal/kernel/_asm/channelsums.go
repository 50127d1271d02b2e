package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func (w *walk) sums() {
	still, rows := w.begin("sums", parameters{doubles: []string{"sum"}, rows: []string{"x"}})
	sum := w.sum(still[0])
	x := w.take(2)
	w.each(func(column int) {
		w.double(rows[0], column, x)
		for h, v := range sum[2*column:][:2] {
			VADDPD(x[h], v, v)
		}
	})
}

func (w *walk) sizes() {
	still, rows := w.begin("sizes", parameters{singles: []string{"size", "most"}, rows: []string{"x"}})
	size, most := w.singleSum(still[0]), w.singleSum(still[1])
	t := w.take(2)
	v, mask := t[0], t[1]
	w.ones(mask)
	VPSRLD(operand.Imm(1), mask, mask)
	w.each(func(column int) {
		w.single(rows[0], column, v)
		if w.bytes == 64 {
			VPANDD(v, mask, v)
		} else {
			VPAND(v, mask, v)
		}
		VADDPS(v, size[column], size[column])
		VPMAXUD(v, most[column], most[column]) // as numbers NaN are above infinity
	})
}

func (w *walk) deviations() {
	still, rows := w.begin("deviations", parameters{doubles: []string{"q", "mean"}, rows: []string{"x"}})
	q, mean := w.sum(still[0]), w.doubles(still[1])
	x := w.take(2)
	w.each(func(column int) {
		w.double(rows[0], column, x)
		for h, v := range x {
			i := 2*column + h
			VSUBPD(mean[i], v, v)
			VMULPD(v, v, v)
			VADDPD(v, q[i], q[i])
		}
	})
}

// gradientSums are what sums of a gradient take: their registers, and the means.
type gradientSums struct{ s1, s2, mean []reg.VecPhysical }

func (w *walk) newGradientSums(still []reg.GPPhysical) gradientSums {
	return gradientSums{w.sum(still[0]), w.sum(still[1]), w.doubles(still[2])}
}

// add adds a column of the gradient g, of which x are the values that led to it.
func (s gradientSums) add(column int, x, g []reg.VecPhysical) {
	for h, v := range x {
		i := 2*column + h
		VADDPD(g[h], s.s1[i], s.s1[i])
		VSUBPD(s.mean[i], v, v)
		VMULPD(v, g[h], v)
		VADDPD(v, s.s2[i], s.s2[i])
	}
}

func (w *walk) gradientSums() {
	still, rows := w.begin("gradientSums", parameters{doubles: []string{"s1", "s2", "mean"},
		rows: []string{"x", "dy"}})
	sums := w.newGradientSums(still)
	x, dy := w.take(2), w.take(2)
	w.each(func(column int) {
		w.double(rows[0], column, x)
		w.double(rows[1], column, dy)
		sums.add(column, x, dy)
	})
}

// unmasked is the predicate "not first >= second", true for NaN, quiet.
const unmasked = 0x19

// maskedSums writes the walk that makes the gradient of an activation, too.
func (w *walk) maskedSums(plus bool) {
	name, of := "maskedSums", parameters{doubles: []string{"s1", "s2", "mean"},
		rows: []string{"x", "dx", "dy", "y"}, bounds: []string{"most"}}
	if plus {
		name, of.rows = name+"Plus", append(of.rows, "plus")
	}
	still, rows := w.begin(name, of)
	sums := w.newGradientSums(still)
	x, g, most, zero := w.take(2), w.take(2), w.broadcast("most"), w.take(1)[0]
	w.zero(zero)
	w.each(func(column int) {
		w.single(rows[2], column, g[0])
		if plus {
			w.single(rows[4], column, g[1])
			VADDPS(g[1], g[0], g[0])
			if w.half {
				w.round(number(g[0]), number(g[1]))
			}
		}
		w.single(rows[3], column, x[0])
		w.mask(g[0], x[0], x[1], zero, most)
		w.keep(g[0], g[1], rows[1], column)
		w.split(g)
		w.double(rows[0], column, x)
		sums.add(column, x, g)
	})
}

// mask clears g where y does not let a gradient through; free is spare.
func (w *walk) mask(g, y, free, zero, most reg.VecPhysical) {
	if w.bytes == 64 {
		VCMPPS(operand.Imm(greater), zero, y, reg.K1)
		VCMPPS(operand.Imm(unmasked), most, y, reg.K1, reg.K1)
		VMOVAPS_Z(g, reg.K1, g)
		return
	}
	for _, c := range []struct {
		predicate operand.Op
		bound     reg.VecPhysical
	}{{operand.Imm(greater), zero}, {operand.Imm(unmasked), most}} {
		VCMPPS(c.predicate, c.bound, y, free)
		VANDPS(free, g, g)
	}
}
