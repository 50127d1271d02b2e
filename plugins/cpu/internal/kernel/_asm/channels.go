package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// channels writes the walks over positions with channels, in rows of float32
// and in rows of bfloat16.
func channels() {
	native := rounding{isa: avx512, name: "AVX512BF16", native: true}
	narrow := rounding{isa: avx2, name: "AVX2", exact: true, scratch: ymm[13:16]}
	for _, columns := range []int{4, 2, 1} {
		eachWalk(walk{rounding: rounding{isa: avx512, name: "AVX512"}, columns: columns})
		eachWalk(walk{rounding: native, columns: columns, half: true})
	}
	eachWalk(walk{rounding: narrow, columns: 1})
	eachWalk(walk{rounding: narrow, columns: 1, half: true})
}

// eachWalk writes all walks of one shape.
func eachWalk(w walk) {
	w.sums()
	if !w.half {
		w.sizes()
	}
	w.deviations()
	w.gradientSums()
	for _, plus := range []bool{false, true} {
		w.maskedSums(plus)
		w.normalise(plus)
	}
	w.normaliseGradient()
}

// walk is the frame of a walk over positions, which treats a few neighbouring
// columns of channels: each as many as one vector of float32 has lanes.
type walk struct {
	rounding
	columns int
	half    bool // rows are of bfloat16
	at      reg.GPPhysical
	step    reg.GPPhysical
	count   reg.GPPhysical
	taken   int // vector registers
}

// parameters are those of a walk, by name.
type parameters struct {
	doubles, singles []string // of channels: float64 and float32
	rows             []string
	bounds           []string // single float32
}

// begin starts a function and returns the pointers among its parameters, those
// to rows last.
func (w *walk) begin(name string, p parameters) (channels, rows []reg.GPPhysical) {
	w.taken = 0
	element := "float32"
	if w.half {
		name, element = name+"Half", "uint16"
	}
	signature := ""
	for _, k := range []struct {
		names   []string
		element string
	}{{p.doubles, "*float64"}, {p.singles, "*float32"}, {p.rows, "*" + element}, {p.bounds, "float32"}} {
		if len(k.names) > 0 {
			signature += strings.Join(k.names, ", ") + " " + k.element + ", "
		}
	}
	TEXT(fmt.Sprintf("%s%sx%d", name, w.name, w.columns), NOSPLIT, "func("+signature+"channels, count int)")
	Pragma("noescape")
	names := append(append(append([]string{}, p.doubles...), p.singles...), p.rows...)
	for i, n := range names {
		MOVQ(param(n), pointers[i])
	}
	free := pointers[len(names):]
	w.at, w.step, w.count = free[0], free[1], free[2]
	MOVQ(param("channels"), w.step)
	SHLQ(operand.Imm(uint64(w.size()/2)), w.step)
	MOVQ(param("count"), w.count)
	XORQ(w.at, w.at)
	if w.half {
		w.constants()
	}
	still := len(names) - len(p.rows)
	return pointers[:still], pointers[still:len(names)]
}

// size returns the bytes of an element of a row.
func (w *walk) size() int {
	if w.half {
		return 2
	}
	return 4
}

// each writes the loop over positions around what body makes of each column,
// and the end of the function around what done makes of it.
func (w *walk) each(body func(column int), done func()) {
	Label("position")
	for column := range w.columns {
		body(column)
	}
	ADDQ(w.step, w.at)
	DECQ(w.count)
	JNE(operand.LabelRef("position"))
	done()
	VZEROUPPER()
	RET()
}

// take returns n vector registers that nobody has.
func (w *walk) take(n int) []reg.VecPhysical {
	w.taken += n
	if w.taken > len(w.regs)-len(w.scratch) {
		panic(fmt.Sprintf("%s: %d vector registers", w.name, w.taken))
	}
	return w.regs[w.taken-n : w.taken]
}

// load returns registers that hold what lies at p: so many vectors.
func (w *walk) load(p reg.GPPhysical, vectors int) []reg.VecPhysical {
	to := w.take(vectors)
	for i, r := range to {
		VMOVUPD(operand.Mem{Base: p, Disp: i * w.bytes}, r)
	}
	return to
}

// store puts them back.
func (w *walk) store(from []reg.VecPhysical, p reg.GPPhysical) {
	for i, r := range from {
		VMOVUPD(r, operand.Mem{Base: p, Disp: i * w.bytes})
	}
}

// broadcast returns a register whose lanes all hold a parameter.
func (w *walk) broadcast(name string) reg.VecPhysical {
	r := w.take(1)[0]
	VBROADCASTSS(param(name), r)
	return r
}

// row returns the memory of a column in the row at p.
func (w *walk) row(p reg.GPPhysical, column int) operand.Mem {
	return operand.Mem{Base: p, Index: w.at, Scale: 1, Disp: column * w.bytes * w.size() / 4}
}

// single loads a column of a row as float32.
func (w *walk) single(p reg.GPPhysical, column int, to reg.VecPhysical) {
	if !w.half {
		VMOVUPS(w.row(p, column), to)
		return
	}
	w.widen(w.row(p, column), to)
}

// double loads a column of a row as float64, in two registers.
func (w *walk) double(p reg.GPPhysical, column int, to []reg.VecPhysical) {
	if w.half {
		w.single(p, column, to[0])
		w.split(to)
		return
	}
	low, high := w.row(p, column), w.row(p, column)
	high.Disp += w.bytes / 2
	VCVTPS2PD(low, to[0])
	VCVTPS2PD(high, to[1])
}

// split makes of float32 in the first of two registers float64 in both.
func (w *walk) split(x []reg.VecPhysical) {
	if w.bytes == 64 {
		VEXTRACTF64X4(operand.Imm(1), x[0], x[1].AsY())
		VCVTPS2PD(x[1].AsY(), x[1])
		VCVTPS2PD(x[0].AsY(), x[0])
		return
	}
	VEXTRACTF128(operand.Imm(1), x[0], x[1].AsX())
	VCVTPS2PD(x[1].AsX(), x[1])
	VCVTPS2PD(x[0].AsX(), x[0])
}

// put stores float32 as a column of a row, rounded if that is of bfloat16; free is spare.
func (w *walk) put(x, free reg.VecPhysical, p reg.GPPhysical, column int) {
	if !w.half {
		VMOVUPS(x, w.row(p, column))
		return
	}
	w.narrow(number(x), number(free), w.row(p, column))
}

// keep stores float32 that a row can hold as they are; free is spare.
func (w *walk) keep(x, free reg.VecPhysical, p reg.GPPhysical, column int) {
	to := w.row(p, column)
	switch {
	case !w.half:
		VMOVUPS(x, to)
	case w.bytes == 64:
		VPSRLD(operand.Imm(16), x, free)
		VPMOVDW(free, to)
	default:
		VPSRLD(operand.Imm(16), x, free)
		w.packed(free, to)
	}
}

// number returns the number of a vector register.
func number(r reg.VecPhysical) int { return int(r.PhysicalIndex()) }
