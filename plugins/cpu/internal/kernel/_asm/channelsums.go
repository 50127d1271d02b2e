package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func (w *walk) sums() {
	still, rows := w.begin("sums", parameters{singles: []string{"sum"}, rows: []string{"x"}})
	sum := w.sum(still[0])
	x := w.take(1)[0]
	w.overColumns(func(column int) {
		w.single(rows[0], column, x)
		VADDPS(x, sum[column], sum[column])
	})
}

// doubleSums writes the walk that adds in float64. The sums of a column then fill two adjacent vectors.
func (w *walk) doubleSums() {
	still, rows := w.begin("doubleSums", parameters{doubles: []string{"sum"}, rows: []string{"x"}})
	sum, t := w.hold(held{address: still[0], regs: w.take(2 * w.columns), sum: true}), w.take(2)
	w.overColumns(func(column int) {
		w.single(rows[0], column, t[0])
		for h := range 2 {
			w.double(t[0], h, t[1])
			VADDPD(t[1], sum[2*column+h], sum[2*column+h])
		}
	})
}

func (w *walk) sizes() {
	still, rows := w.begin("sizes", parameters{singles: []string{"size", "most"}, rows: []string{"x"}})
	size, most := w.sum(still[0]), w.sum(still[1])
	t := w.take(2)
	v, mask := t[0], t[1]
	w.ones(mask)
	VPSRLD(operand.Imm(1), mask, mask)
	w.overColumns(func(column int) {
		w.single(rows[0], column, v)
		if w.bytes == 64 {
			VPANDD(v, mask, v)
		} else {
			VPAND(v, mask, v)
		}
		VADDPS(v, size[column], size[column])
		VPMAXUD(v, most[column], most[column]) // compared as integers, a NaN is larger than infinity
	})
}

func (w *walk) deviations() {
	still, rows := w.begin("deviations", parameters{singles: []string{"sum", "squares", "shift"},
		rows: []string{"x"}})
	sum, squares, shift := w.sum(still[0]), w.sum(still[1]), w.singles(still[2])
	x := w.take(1)[0]
	w.overColumns(func(column int) {
		w.single(rows[0], column, x)
		VSUBPS(shift[column], x, x)
		VADDPS(x, sum[column], sum[column])
		VMULPS(x, x, x)
		VADDPS(x, squares[column], squares[column])
	})
}

// gradientSums has the registers of a gradient's sums, and the shifts.
type gradientSums struct{ s1, s2, shift []reg.VecPhysical }

func (w *walk) newGradientSums(fixed []reg.GPPhysical) gradientSums {
	return gradientSums{w.sum(fixed[0]), w.sum(fixed[1]), w.singles(fixed[2])}
}

// add adds a column of the gradient g. x has the forward values of that column.
func (s gradientSums) add(column int, x, g reg.VecPhysical) {
	VADDPS(g, s.s1[column], s.s1[column])
	VSUBPS(s.shift[column], x, x)
	VMULPS(x, g, x)
	VADDPS(x, s.s2[column], s.s2[column])
}

func (w *walk) gradientSums() {
	still, rows := w.begin("gradientSums", parameters{singles: []string{"s1", "s2", "shift"},
		rows: []string{"x", "dy"}})
	sums := w.newGradientSums(still)
	t := w.take(2)
	w.overColumns(func(column int) {
		w.single(rows[0], column, t[0])
		w.single(rows[1], column, t[1])
		sums.add(column, t[0], t[1])
	})
}

// maskedSums writes the walk that computes the gradient of an activation, and sums that gradient.
func (w *walk) maskedSums(plus bool) {
	name, of := "maskedSums", parameters{singles: []string{"s1", "s2", "shift"},
		rows: []string{"x", "dx", "dy", "y"}, last: []string{"most"}}
	if plus {
		name, of.rows = name+"Plus", append(of.rows, "plus")
	}
	still, rows := w.begin(name, of)
	sums := w.newGradientSums(still)
	t, most := w.take(3), w.last("most")
	g, x, free := t[0], t[1], t[2]
	masked := w.maskedWords
	if !w.half || !w.native {
		zero := w.take(1)[0]
		w.zero(zero)
		masked = func(rows []reg.GPPhysical, column int, g, x, free, most reg.VecPhysical) {
			w.maskedSingles(rows, column, g, x, free, []reg.VecPhysical{zero, most})
		}
	}
	w.overColumns(func(column int) {
		masked(rows, column, g, x, free, most)
		w.single(rows[0], column, x)
		sums.add(column, x, g)
	})
}

// maskedWords computes and stores a column of the gradient of the activation. It works on words of
// bfloat16, and also converts the column to float32 in g. The other registers are spare.
func (w *walk) maskedWords(rows []reg.GPPhysical, column int, g, x, free, high reg.VecPhysical) {
	words, y := free.AsY(), x.AsY()
	if len(rows) > 4 {
		w.single(rows[2], column, g)
		w.single(rows[4], column, free)
		VADDPS(free, g, g)
		vcvtneps2bf16(number(g), number(free))
	} else {
		VMOVDQU32(w.row(rows[2], column), words)
	}
	VMOVDQU32(w.row(rows[3], column), y)
	VPTESTMW(y, y, reg.K1)
	VPCMPUW(operand.Imm(notAbove), high.AsY(), y, reg.K1, reg.K1)
	VMOVDQU16_Z(words, reg.K1, words)
	VMOVDQU32(words, w.row(rows[1], column))
	VPMOVZXWD(words, g)
	VPSLLD(operand.Imm(16), g, g)
}

// maskedSingles does the same as maskedWords in lanes of float32. bounds has registers with 0 and most.
func (w *walk) maskedSingles(rows []reg.GPPhysical, column int, g, x, free reg.VecPhysical,
	bounds []reg.VecPhysical) {
	w.single(rows[2], column, g)
	if len(rows) > 4 {
		w.single(rows[4], column, free)
		VADDPS(free, g, g)
		if w.half {
			w.round(number(g), number(free))
		}
	}
	w.mask(rows[3], column, g, x, free, bounds)
	w.keep(g, free, rows[1], column)
}

// These are predicates of comparisons that raise no exception: "not first >= second" of float32, which is
// true for NaN, and "first <= second" of words.
const (
	unmasked = 0x19
	notAbove = 2
)

// mask sets g to 0 where the activation's gradient is 0, according to the row at y. x and free are spare
// registers.
func (w *walk) mask(y reg.GPPhysical, column int, g, x, free reg.VecPhysical, bounds []reg.VecPhysical) {
	zero, most := bounds[0], bounds[1]
	switch {
	case w.half:
		VPMOVZXWD(w.row(y, column), x)
		VPCMPGTD(zero, x, free)
		VPAND(free, g, g)
		VPCMPGTD(most, x, free)
		VPANDN(g, free, g)
	case w.bytes == 64:
		w.load(w.row(y, column), x)
		VCMPPS(operand.Imm(greater), zero, x, reg.K1)
		VCMPPS(operand.Imm(unmasked), most, x, reg.K1, reg.K1)
		VMOVAPS_Z(g, reg.K1, g)
	default:
		VMOVUPS(w.row(y, column), x)
		VCMPPS(operand.Imm(greater), zero, x, free)
		VANDPS(free, g, g)
		VCMPPS(operand.Imm(unmasked), most, x, free)
		VANDPS(free, g, g)
	}
}
