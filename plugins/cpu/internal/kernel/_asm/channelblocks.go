package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// blockPositions is the number of positions of a block, which are summed in float32.
const blockPositions = 64

// eachBlocks writes the walks that sum whole blocks, for walks like w. They sum a block in float32 and add
// its sum in float64. One call processes all channels.
func eachBlocks(w walk) {
	w.momentBlocks()
	w.gradientBlocks()
	for _, plus := range []bool{false, true} {
		w.maskedBlocks(plus)
	}
}

// positions writes the loop over the positions of a block.
func (w *walk) positions(name string, step, remaining reg.GPPhysical, body func(column int)) {
	MOVQ(operand.U32(blockPositions), remaining)
	Label(name)
	for column := range w.columns {
		body(column)
	}
	ADDQ(step, w.offset)
	DECQ(remaining)
	JNE(operand.LabelRef(name))
}

// blocks writes the loop over blocks and the end of the function. block writes the code that sums one block.
func (w *walk) blocks(block func(step, remaining reg.GPPhysical)) {
	step, remaining := w.channel, pointers[11]
	MOVQ(param("channels"), step)
	SHLQ(operand.Imm(2), step)
	w.fetch()
	Label("block")
	block(step, remaining)
	DECQ(w.count)
	JNE(operand.LabelRef("block"))
	VZEROUPPER()
	RET()
}

// double converts half h of the float32 in x to float64, in register dst.
func (w *walk) double(x reg.VecPhysical, h int, dst reg.VecPhysical) {
	switch {
	case w.bytes == 64 && h == 0:
		VCVTPS2PD(x.AsY(), dst)
	case w.bytes == 64:
		VEXTRACTF64X4(operand.Imm(1), x, dst.AsY())
		VCVTPS2PD(dst.AsY(), dst)
	case h == 0:
		VCVTPS2PD(x.AsX(), dst)
	default:
		VEXTRACTF128(operand.Imm(1), x, dst.AsX())
		VCVTPS2PD(dst.AsX(), dst)
	}
}

// doubles returns the address of half h of a column, in an array of float64 at p.
func (w *walk) doubles(p reg.GPPhysical, column, h int) operand.Mem {
	return operand.Mem{Base: p, Disp: (2*column + h) * w.bytes}
}

// gradientBlock writes the walk that adds gradientSums of whole blocks to sums in float64. body writes code
// that loads x and g of a column into registers and adds them to the sums of the block.
func (w *walk) gradientBlock(doubles []reg.GPPhysical, sums gradientSums, t []reg.VecPhysical,
	body func(column int)) {
	w.blocks(func(step, left reg.GPPhysical) {
		for column := range w.columns {
			w.zero(sums.s1[column])
			w.zero(sums.s2[column])
		}
		w.positions("position", step, left, body)
		for i, s := range [][]reg.VecPhysical{sums.s1, sums.s2} {
			for column, r := range s {
				for h := range 2 {
					to := w.doubles(doubles[i], column, h)
					w.double(r, h, t[h])
					VADDPD(to, t[h], t[h])
					VMOVUPD(t[h], to)
				}
			}
		}
	})
}

func (w *walk) gradientBlocks() {
	still, rows := w.begin("gradientBlocks", parameters{doubles: []string{"s1", "s2"},
		singles: []string{"shift"}, rows: []string{"x", "dy"}})
	sums := gradientSums{w.take(w.columns), w.take(w.columns), w.singles(still[2])}
	t := w.take(2)
	w.gradientBlock(still, sums, t, func(column int) {
		w.single(rows[0], column, t[0])
		w.single(rows[1], column, t[1])
		sums.add(column, t[0], t[1])
	})
}

// maskedBlocks writes the walk that computes maskedSums of whole blocks.
func (w *walk) maskedBlocks(plus bool) {
	name, of := "maskedBlocks", parameters{doubles: []string{"s1", "s2"}, singles: []string{"shift"},
		rows: []string{"x", "dx", "dy", "y"}, last: []string{"most"}}
	if plus {
		name, of.rows = name+"Plus", append(of.rows, "plus")
	}
	still, rows := w.begin(name, of)
	sums := gradientSums{w.take(w.columns), w.take(w.columns), w.singles(still[2])}
	t, most, zero := w.take(3), w.last("most"), w.take(1)[0]
	w.zero(zero)
	w.gradientBlock(still, sums, t, func(column int) {
		w.maskedSingles(rows, column, t[0], t[1], t[2], []reg.VecPhysical{zero, most})
		w.single(rows[0], column, t[1])
		sums.add(column, t[1], t[0])
	})
}

// momentBlocks writes the walk that adds the moments of whole blocks to t1 and t2. first has the shifts of
// the first block.
func (w *walk) momentBlocks() {
	still, rows := w.begin("momentBlocks", parameters{doubles: []string{"t1", "t2", "first"},
		rows: []string{"x"}})
	sum, squares, shift := w.take(w.columns), w.take(w.columns), w.take(w.columns)
	c, t := w.take(3), w.take(4)
	single, part, count := c[0], c[1], c[2]
	w.constant(single, math.Float32bits(1.0/blockPositions), 0)
	w.constant(part, 0, math.Float64bits(1.0/blockPositions))
	w.constant(count, 0, math.Float64bits(blockPositions))
	start := reg.R14
	w.blocks(func(step, left reg.GPPhysical) {
		for column := range w.columns {
			for _, r := range []reg.VecPhysical{sum[column], squares[column], shift[column]} {
				w.zero(r)
			}
		}
		MOVQ(w.offset, start)
		w.positions("total", step, left, func(column int) {
			VADDPS(w.row(rows[0], column), shift[column], shift[column])
		})
		for _, r := range shift {
			VMULPS(single, r, r)
		}
		MOVQ(start, w.offset)
		w.positions("position", step, left, func(column int) {
			x := t[column%len(t)]
			w.single(rows[0], column, x)
			VSUBPS(shift[column], x, x)
			VADDPS(x, sum[column], sum[column])
			VMULPS(x, x, x)
			VADDPS(x, squares[column], squares[column])
		})
		for column := range w.columns {
			for h := range 2 {
				s, u, e, q := t[0], t[1], t[2], t[3]
				w.double(sum[column], h, s)
				VMULPD(part, s, u)
				w.double(shift[column], h, e)
				VSUBPD(w.doubles(still[2], column, h), e, e)
				VADDPD(u, e, e)
				VMULPD(u, s, s)
				w.double(squares[column], h, q)
				VSUBPD(s, q, q)
				VMULPD(count, e, u) // count times e, the difference between the shift of this block and the first one
				VMULPD(e, u, s)
				VADDPD(s, q, q)
				for i, r := range []reg.VecPhysical{u, q} {
					to := w.doubles(still[i], column, h)
					VADDPD(to, r, r)
					VMOVUPD(r, to)
				}
			}
		}
	})
}

// constant broadcasts the float32 with the bits single. If single is 0, it broadcasts the float64 with the
// bits double.
func (w *walk) constant(r reg.VecPhysical, single uint32, double uint64) {
	if single != 0 {
		MOVL(operand.U32(single), reg.R15L)
		MOVD(reg.R15L, r.AsX())
		VBROADCASTSS(r.AsX(), r)
		return
	}
	MOVQ(operand.U64(double), reg.R15)
	MOVQ(reg.R15, r.AsX())
	VBROADCASTSD(r.AsX(), r)
}
