package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func (w *walk) sums() {
	still, rows := w.begin("sums", parameters{doubles: []string{"sum"}, rows: []string{"x"}})
	sum := w.sum(still[0])
	x := w.spare(2)
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
	x := w.spare(2)
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
	x, dy := w.spare(2), w.spare(2)
	w.each(func(column int) {
		w.double(rows[0], column, x)
		w.double(rows[1], column, dy)
		sums.add(column, x, dy)
	})
}

// maskedSums writes the walk that makes the gradient of an activation, too.
func (w *walk) maskedSums(plus bool) {
	name, of := "maskedSums", parameters{doubles: []string{"s1", "s2", "mean"},
		rows: []string{"x", "dx", "dy", "y"}, last: []string{"most"}}
	if plus {
		name, of.rows = name+"Plus", append(of.rows, "plus")
	}
	still, rows := w.begin(name, of)
	sums := w.newGradientSums(still)
	x, g, most := w.spare(2), w.spare(2), w.last("most")
	masked := w.maskedWords
	if !w.half || !w.native {
		zero := w.take(1)[0]
		w.zero(zero)
		masked = func(rows []reg.GPPhysical, column int, x, g []reg.VecPhysical, most reg.VecPhysical) {
			w.maskedSingles(rows, column, x, g, []reg.VecPhysical{zero, most})
		}
	}
	w.each(func(column int) {
		masked(rows, column, x, g, most)
		w.double(rows[0], column, x)
		sums.add(column, x, g)
	})
}

// maskedWords leaves in g, as float64, a column of the gradient where the
// activation lets it through, and stores it: of bfloat16, in words. x is spare.
func (w *walk) maskedWords(rows []reg.GPPhysical, column int, x, g []reg.VecPhysical, most reg.VecPhysical) {
	words, y := g[1].AsY(), x[0].AsY()
	if len(rows) > 4 {
		w.single(rows[2], column, g[0])
		w.single(rows[4], column, g[1])
		VADDPS(g[1], g[0], g[0])
		vcvtneps2bf16(number(g[0]), number(g[1]))
	} else {
		VMOVDQU32(w.row(rows[2], column), words)
	}
	VMOVDQU32(w.row(rows[3], column), y)
	VPTESTMW(y, y, reg.K1)
	VPCMPUW(operand.Imm(notAbove), most.AsY(), y, reg.K1, reg.K1)
	VMOVDQU16_Z(words, reg.K1, words)
	VMOVDQU32(words, w.row(rows[1], column))
	w.spread(g)
}

// maskedSingles does the same in lanes of float32; bounds are 0 and most.
func (w *walk) maskedSingles(rows []reg.GPPhysical, column int, x, g, bounds []reg.VecPhysical) {
	w.single(rows[2], column, g[0])
	if len(rows) > 4 {
		w.single(rows[4], column, g[1])
		VADDPS(g[1], g[0], g[0])
		if w.half {
			w.round(number(g[0]), number(g[1]))
		}
	}
	w.mask(rows[3], column, g[0], x, bounds)
	w.keep(g[0], g[1], rows[1], column)
	w.split(g)
}

// Predicates: "not first >= second" of float32, true for NaN, quiet, and
// "first <= second" of words.
const (
	unmasked = 0x19
	notAbove = 2
)

// mask clears g where the row at y does not let a gradient through; x is spare.
func (w *walk) mask(y reg.GPPhysical, column int, g reg.VecPhysical, x, bounds []reg.VecPhysical) {
	zero, most := bounds[0], bounds[1]
	switch {
	case w.half:
		VPMOVZXWD(w.row(y, column), x[0])
		VPCMPGTD(zero, x[0], x[1])
		VPAND(x[1], g, g)
		VPCMPGTD(most, x[0], x[1])
		VPANDN(g, x[1], g)
	case w.bytes == 64:
		VMOVUPS(w.row(y, column), x[0])
		VCMPPS(operand.Imm(greater), zero, x[0], reg.K1)
		VCMPPS(operand.Imm(unmasked), most, x[0], reg.K1, reg.K1)
		VMOVAPS_Z(g, reg.K1, g)
	default:
		VMOVUPS(w.row(y, column), x[0])
		VCMPPS(operand.Imm(greater), zero, x[0], x[1])
		VANDPS(x[1], g, g)
		VCMPPS(operand.Imm(unmasked), most, x[0], x[1])
		VANDPS(x[1], g, g)
	}
}
