package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pairsgradient writes the functions for PairsGradient and for the interleaving of its operands.
func pairsgradient() {
	native := rounding{isa: avx512, name: "AVX512BF16", native: true}
	plain := rounding{isa: avx512, name: "AVX512", scratch: zmm[31:32]}
	narrow := rounding{isa: avx2, name: "AVX2", scratch: ymm[15:16]}
	for _, r := range []rounding{native, plain} {
		for n, values := range [][]int{1: {16, 8, 4, 2, 1}, 2: {12, 8, 4, 2, 1}, 3: {9, 8, 4, 2, 1},
			4: {6, 5, 4, 2, 1}} {
			for _, m := range values {
				newPairsGradient(r, n, m).write()
			}
		}
	}
	for _, m := range []int{6, 4, 2, 1} {
		newPairsGradient(narrow, 1, m).write()
	}
	for _, set := range []isa{avx512, avx2} {
		interleaver{set, set.bytes, func(first, second operand.Mem, v, w reg.VecPhysical) {
			VMOVUPS(first, v)
			VPSRLD(operand.Imm(16), v, v)
			if set.bytes == 64 {
				VPORD(second, v, v)
			} else {
				VPOR(second, v, v)
			}
		}}.write("interleave")
		interleaver{set, set.bytes / 2, func(first, second operand.Mem, v, w reg.VecPhysical) {
			VPMOVZXWD(second, w)
			VPMOVZXWD(first, v)
			VPSLLD(operand.Imm(16), w, w)
			if set.bytes == 64 {
				VPORD(w, v, v)
			} else {
				VPOR(w, v, v)
			}
		}}.write("interleaveHalves")
	}
}

// pairsGradient writes a tile of p values by n vectors of 16 channels. The vectors may be any distance
// apart.
type pairsGradient struct {
	pairsTiler
	grad, gradStep, gradStep3 reg.GPPhysical // pointer; distance of two vectors, and three times that
	sumStep, sumStep3         reg.GPPhysical
}

func newPairsGradient(r rounding, n, p int) *pairsGradient {
	return &pairsGradient{pairsTiler{r, n, p}, pointers[0], pointers[1], pointers[2], pointers[3], pointers[4]}
}

// address returns the address of register v of a row of n vectors.
func (t *pairsGradient) address(v int, base, step, step3 reg.GPPhysical) operand.Mem {
	m := operand.Mem{Base: base, Disp: t.bytes * (v % t.vectors())}
	switch v / t.vectors() {
	case 1:
		m.Index, m.Scale = step, 1
	case 2:
		m.Index, m.Scale = step, 2
	case 3:
		m.Index, m.Scale = step3, 1
	}
	return m
}

// sums calls do for every sum and its address.
func (t *pairsGradient) sums(base reg.GPPhysical, do func(r reg.VecPhysical, address operand.Mem)) {
	MOVQ(param("sum"), base)
	width := t.width()
	for i := range t.p {
		for v := range width {
			do(t.regs[i*width+v], t.address(v, base, t.sumStep, t.sumStep3))
		}
		if i < t.p-1 {
			ADDQ(param("sumStep"), base)
		}
	}
}

// steps loads the distance between two vectors into step, and three times this distance into step3.
func (t *pairsGradient) steps(name string, step, step3 reg.GPPhysical) {
	if t.n > 1 {
		MOVQ(param(name), step)
	}
	if t.n > 3 {
		LEAQ(operand.Mem{Base: step, Index: step, Scale: 2}, step3)
	}
}

// write writes the tile. Every sum continues as one chain over rows of pairs. At each pair
// it prefetches a line that the next tile needs.
func (t *pairsGradient) write() {
	TEXT(fmt.Sprintf("pairsGradient%sx%dm%d", t.name, t.n, t.p), NOSPLIT,
		"func(sum *float32, sumStep int, sumVector int, x *uint16, xStep int, grad *uint16, gradStep int, "+
			"gradVector int, rows *int32, count int, pairs int, next *byte, nextStep int)")
	Pragma("noescape")
	x, xStep, gradStep, rows, left, count, next, nextStep := pointers[5], pointers[6], pointers[7], pointers[8],
		pointers[9], pointers[10], pointers[11], reg.R15
	restore := func() {}
	if !t.native {
		restore = flushSubnormals(left)
		t.upper(t.scratch[0])
	}
	t.steps("sumVector", t.sumStep, t.sumStep3)
	t.steps("gradVector", t.gradStep, t.gradStep3)
	MOVQ(param("xStep"), xStep)
	MOVQ(param("gradStep"), gradStep)
	MOVQ(param("rows"), rows)
	MOVQ(param("count"), count)
	MOVQ(param("next"), next)
	MOVQ(param("nextStep"), nextStep)
	t.sums(left, func(r reg.VecPhysical, at operand.Mem) { VMOVUPS(at, r) })

	Label("row")
	MOVLQSX(operand.Mem{Base: rows}, x)
	MOVLQSX(operand.Mem{Base: rows, Disp: 4}, t.grad)
	ADDQ(param("x"), x)
	ADDQ(param("grad"), t.grad)
	MOVQ(param("pairs"), left)
	Label("pair")
	PREFETCHT1(operand.Mem{Base: next})
	ADDQ(nextStep, next)
	t.products(t.p*t.width(), func(i int) operand.Mem { return operand.Mem{Base: x, Disp: 4 * i} },
		func(v int) operand.Mem { return t.address(v, t.grad, t.gradStep, t.gradStep3) })
	ADDQ(xStep, x)
	ADDQ(gradStep, t.grad)
	DECQ(left)
	JNE(operand.LabelRef("pair"))
	ADDQ(operand.Imm(8), rows)
	DECQ(count)
	JNE(operand.LabelRef("row"))

	t.sums(left, func(r reg.VecPhysical, at operand.Mem) { VMOVUPS(r, at) })
	restore()
	VZEROUPPER()
	RET()
}

// interleaver writes the interleaving of runs for one instruction set. pair writes the code that stores a
// vector of pairs in v. The first elements of the pairs are at first and the second ones at second; w is a
// free register. Offsets are for float32.
type interleaver struct {
	isa
	taken int // number of bytes of values that fill one vector
	pair  func(first, second operand.Mem, v, w reg.VecPhysical)
}

// write writes a loop over lines of pairs of positions with runs of whole vectors. Runs of
// one vector have a separate loop.
func (t interleaver) write(name string) {
	from := "*float32"
	if t.taken < t.bytes {
		from = "*uint16"
	}
	TEXT(name+t.name, NOSPLIT, "func(dst *uint16, in "+from+", zero int, offs *int32, pairs int, lanes int, "+
		"lines int, step int)")
	Pragma("noescape")
	in, zero, lines, step, lanes := pointers[1], pointers[2], pointers[9], pointers[10], pointers[5]
	MOVQ(param("dst"), pointers[0])
	MOVQ(param("in"), in)
	MOVQ(param("zero"), zero)
	MOVQ(param("lanes"), lanes)
	MOVQ(param("lines"), lines)
	MOVQ(param("step"), step)
	CMPQ(lanes, operand.Imm(uint64(t.bytes/4)))
	JE(operand.LabelRef("single"))
	for _, kind := range []string{"many", "single"} {
		Label(kind)
		t.line(kind)
		ADDQ(step, in)
		SUBQ(step, zero)
		DECQ(lines)
		JNE(operand.LabelRef(kind))
		VZEROUPPER()
		RET()
	}
}

// line writes a loop over the pairs of a line.
func (t interleaver) line(kind string) {
	dst, in, zero, offs, pairs, lanes, first, second, k := pointers[0], pointers[1], pointers[2], pointers[3],
		pointers[4], pointers[5], pointers[6], pointers[7], pointers[8]
	MOVQ(param("offs"), offs)
	MOVQ(param("pairs"), pairs)
	Label(kind + "pair")
	for i, p := range []reg.GPPhysical{first, second} {
		MOVLQSX(operand.Mem{Base: offs, Disp: 4 * i}, p)
		if t.taken < t.bytes {
			SARQ(operand.Imm(1), p)
		}
		TESTQ(p, p)
		CMOVQLT(zero, p)
	}
	v, w := t.regs[0], t.regs[1]
	if kind == "single" {
		t.pair(operand.Mem{Base: in, Index: first, Scale: 1}, operand.Mem{Base: in, Index: second, Scale: 1}, v, w)
		VMOVUPS(v, operand.Mem{Base: dst})
		ADDQ(operand.Imm(uint64(t.bytes)), dst)
	} else {
		ADDQ(in, first)
		ADDQ(in, second)
		MOVQ(lanes, k)
		Label("some")
		t.pair(operand.Mem{Base: first}, operand.Mem{Base: second}, v, w)
		VMOVUPS(v, operand.Mem{Base: dst})
		ADDQ(operand.Imm(uint64(t.taken)), first)
		ADDQ(operand.Imm(uint64(t.taken)), second)
		ADDQ(operand.Imm(uint64(t.bytes)), dst)
		SUBQ(operand.Imm(uint64(t.bytes/4)), k)
		JNE(operand.LabelRef("some"))
	}
	ADDQ(operand.Imm(8), offs)
	DECQ(pairs)
	JNE(operand.LabelRef(kind + "pair"))
}
