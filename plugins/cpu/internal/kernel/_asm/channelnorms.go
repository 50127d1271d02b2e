package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

// affine has the registers for the numbers of a normalisation, and two spare registers.
type affine struct {
	hi, lo, factor, add []reg.VecPhysical
	v, free             reg.VecPhysical
}

func (w *walk) newAffine(fixed []reg.GPPhysical) affine {
	t := w.take(2)
	return affine{w.singles(fixed[0]), w.singles(fixed[1]), w.singles(fixed[2]), w.singles(fixed[3]), t[0], t[1]}
}

// centred sets v to a column of x minus its mean, which is the sum hi + lo.
func (w *walk) centred(a affine, x reg.GPPhysical, column int) {
	w.single(x, column, a.v)
	VSUBPS(a.hi[column], a.v, a.v)
	VSUBPS(a.lo[column], a.v, a.v)
}

func (w *walk) normalise(plus bool) {
	name, of := "normalise", parameters{singles: []string{"hi", "lo", "by", "add"},
		rows: []string{"y", "x"}, bounds: []string{"least", "most"}}
	if plus {
		name, of.rows = name+"Plus", append(of.rows, "plus")
	}
	still, rows := w.begin(name, of)
	a := w.newAffine(still)
	least, most := w.broadcast("least"), w.broadcast("most")
	w.overColumns(func(column int) {
		w.centred(a, rows[1], column)
		VMULPS(a.factor[column], a.v, a.v)
		VADDPS(a.add[column], a.v, a.v)
		if plus {
			w.single(rows[2], column, a.free)
			VADDPS(a.free, a.v, a.v)
		}
		bound(a.v, least, most)
		w.put(a.v, a.free, rows[0], column)
	})
}

func (w *walk) normaliseGradient() {
	still, rows := w.begin("normaliseGradient", parameters{
		singles: []string{"hi", "lo", "by", "add", "slope"}, rows: []string{"dx", "x", "dy"}})
	a, slope := w.newAffine(still), w.singles(still[4])
	w.overColumns(func(column int) {
		w.centred(a, rows[1], column)
		VMULPS(slope[column], a.v, a.v)
		w.single(rows[2], column, a.free)
		VSUBPS(a.add[column], a.free, a.free)
		VSUBPS(a.v, a.free, a.v)
		VMULPS(a.v, a.factor[column], a.v)
		w.put(a.v, a.free, rows[0], column)
	})
}
