package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pairsTiler writes tiles of Pairs with p positions by n*16 channels for one instruction set. The first
// registers are sums, then come weights, then spare registers.
type pairsTiler struct {
	rounding
	n, p int
}

// pairs writes the tiles of Pairs.
func pairs() {
	native := rounding{isa: avx512, name: "AVX512BF16", native: true}
	plain := rounding{isa: avx512, name: "AVX512", scratch: zmm[29:32]}
	narrow := rounding{isa: avx2, name: "AVX2", scratch: ymm[13:16]}
	for _, r := range []rounding{native, plain} {
		for n, positions := range [][]int{1: {12, 8, 4, 2, 1}, 2: {12, 8, 4, 2, 1}, 4: {6, 4, 2, 1}} {
			for _, p := range positions {
				(&pairsTiler{r, n, p}).write()
			}
		}
	}
	for _, p := range []int{4, 2, 1} {
		(&pairsTiler{narrow, 1, p}).write()
	}
}

// width returns the number of vectors of a position.
func (t *pairsTiler) width() int { return t.n * t.vectors() }

// write writes tiles of consecutive positions.
func (t *pairsTiler) write() {
	TEXT(fmt.Sprintf("pairs%sx%dp%d", t.name, t.n, t.p), NOSPLIT,
		"func(out *byte, outs *int32, in *uint16, zero int, offs *int32, offStep int, "+
			"taps int, pairs int, w *uint16, wStep int, scale *float32, bias *float32, "+
			"plus *float32, most *float32, as int, tiles int)")
	Pragma("noescape")
	w, k := reg.R14, reg.R15
	base, left, table := AllocLocal(8), AllocLocal(8), AllocLocal(8)
	restore := flushSubnormals(k)
	t.constants()

	Comment("the runs are walked by an index that rises to zero")
	MOVQ(param("pairs"), k)
	SHLQ(operand.Imm(2), k)
	ADDQ(param("in"), k)
	MOVQ(k, base)
	Label("tile")
	MOVQ(param("offs"), k)
	MOVQ(k, table)
	early := newEarly(block{avx512, 16 * t.n}, t.p)
	early.begin()
	MOVQ(param("w"), w)
	t.clear(t.p * t.width())
	MOVQ(param("taps"), k)
	MOVQ(k, left)

	Label("tap")
	CMPQ(left, operand.Imm(0))
	JE(operand.LabelRef("store"))
	MOVQ(table, k)
	for i := range t.p {
		resolve(operand.Mem{Base: k, Disp: 4 * i}, pointers[i], base, param("zero"))
	}
	ADDQ(param("offStep"), k)
	MOVQ(k, table)
	MOVQ(param("pairs"), k)
	NEGQ(k)
	t.run(w, k, early)
	DECQ(left)
	JMP(operand.LabelRef("tap"))

	Label("store")
	MOVQ(param("outs"), k)
	for i := range t.p {
		MOVLQSX(operand.Mem{Base: k, Disp: 4 * i}, pointers[i])
	}
	t.end(w, k, t.byOffsets(), t.byOffsets(), func() {
		for i := range t.p {
			SARQ(operand.Imm(1), pointers[i])
		}
	})
	DECQ(param("tiles"))
	JE(operand.LabelRef("end"))
	ADDQ(operand.Imm(uint64(4*t.p)), param("offs"))
	ADDQ(operand.Imm(uint64(4*t.p)), param("outs"))
	JMP(operand.LabelRef("tile"))
	Label("end")
	restore()
	VZEROUPPER()
	RET()
}

// run writes the code that adds the products of one run of values.
func (t *pairsTiler) run(w, k reg.GPPhysical, early *early) {
	unroll := 1
	if t.native {
		unroll = 4
		Label("some")
		CMPQ(k, operand.I32(-int32(unroll)))
		JG(operand.LabelRef("rest"))
		early.fetch()
		for j := range unroll {
			t.pair(j, w, k)
		}
		ADDQ(operand.Imm(uint64(unroll)), k)
		JMP(operand.LabelRef("some"))
	}
	Label("rest")
	TESTQ(k, k)
	JE(operand.LabelRef("next"))
	t.pair(0, w, k)
	INCQ(k)
	JMP(operand.LabelRef("rest"))
	Label("next")
}

// pair multiplies pair j of each position's run with its weights.
func (t *pairsTiler) pair(j int, w, k reg.GPPhysical) {
	t.products(t.p*t.width(),
		func(i int) operand.Mem { return operand.Mem{Base: pointers[i], Index: k, Scale: 4, Disp: 4 * j} },
		func(v int) operand.Mem { return operand.Mem{Base: w, Disp: t.bytes * v} })
	ADDQ(param("wStep"), w)
}

// products multiplies a pair of each position, x(i), with the vectors of pairs
// y(v), which go to registers from first on.
func (t *pairsTiler) products(first int, x, y func(int) operand.Mem) {
	width, spare := t.width(), first+t.width()
	if t.native {
		for v := range width {
			VMOVUPS(y(v), t.regs[first+v])
		}
		for i := range t.p {
			b := spare + i%min(len(t.regs)-spare, 4)
			VBROADCASTSS(x(i), t.regs[b])
			for v := range width {
				vdpbf16ps(first+v, b, i*width+v)
			}
		}
		return
	}
	for _, odd := range []bool{true, false} {
		for v := range width {
			VMOVUPS(y(v), t.regs[first+v])
			t.half(odd, t.regs[first+v])
		}
		for i := range t.p {
			b := t.regs[spare]
			VBROADCASTSS(x(i), b)
			t.half(odd, b)
			for v := range width {
				VFMADD231PS(t.regs[first+v], b, t.regs[i*width+v])
			}
		}
	}
}

// half converts the odd or the even values of the pairs in x to float32. The first register of the
// rounding holds the mask of upper halves.
func (t *pairsTiler) half(odd bool, x reg.VecPhysical) {
	switch {
	case !odd:
		VPSLLD(operand.Imm(16), x, x)
	case t.bytes == 64:
		VPANDD(t.scratch[0], x, x)
	default:
		VPAND(t.scratch[0], x, x)
	}
}

// eachResult calls do for every register of sums, with the address of its result. The address is relative
// to base. vector is the number of bytes of a register.
type eachResult func(base reg.GPPhysical, vector int, do func(r int, at operand.Mem))

// byOffsets returns an eachResult for results with their offsets in pointers.
func (t *pairsTiler) byOffsets() eachResult {
	width := t.width()
	return func(base reg.GPPhysical, vector int, do func(r int, at operand.Mem)) {
		for r := range t.p * width {
			do(r, operand.Mem{Base: base, Index: pointers[r/width], Scale: 1, Disp: vector * (r % width)})
		}
	}
}

// bySteps returns an eachResult for results that are step bytes apart.
func (t *pairsTiler) bySteps(step operand.Op) eachResult {
	width := t.width()
	return func(base reg.GPPhysical, vector int, do func(r int, at operand.Mem)) {
		for i := range t.p {
			for v := range width {
				do(i*width+v, operand.Mem{Base: base, Disp: vector * v})
			}
			ADDQ(step, base)
		}
	}
}

// asRounded is the mode that stores results rounded to bfloat16, in four bytes each. Smaller modes do not
// round, and larger modes store two bytes each.
const asRounded = 1

// end scales the sums and adds the addends. It bounds and rounds the results, and stores them. narrow writes
// the code before they are stored in two bytes each.
func (t *pairsTiler) end(w, k reg.GPPhysical, results, halves eachResult, narrow func()) {
	accs, width := t.p*t.width(), t.width()
	MOVQ(param("bias"), w)
	MOVQ(param("scale"), k)
	TESTQ(k, k)
	JE(operand.LabelRef("unscaled"))
	for v := range width {
		VMOVUPS(operand.Mem{Base: k, Disp: t.bytes * v}, t.regs[accs])
		for i := range t.p {
			VFMADD213PS(operand.Mem{Base: w, Disp: t.bytes * v}, t.regs[accs], t.regs[i*width+v])
		}
	}
	JMP(operand.LabelRef("biased"))
	Label("unscaled")
	TESTQ(w, w)
	JE(operand.LabelRef("biased"))
	for r := range accs {
		VADDPS(operand.Mem{Base: w, Disp: t.bytes * (r % width)}, t.regs[r], t.regs[r])
	}
	Label("biased")
	MOVQ(param("plus"), k)
	TESTQ(k, k)
	JE(operand.LabelRef("added"))
	results(k, t.bytes, func(r int, at operand.Mem) { VADDPS(at, t.regs[r], t.regs[r]) })
	Label("added")
	t.bound(k)
	MOVQ(param("out"), k)
	CMPQ(param("as"), operand.Imm(asRounded))
	JL(operand.LabelRef("write"))
	JG(operand.LabelRef("narrow"))
	for r := range accs {
		t.round(r, accs)
	}
	Label("write")
	results(k, t.bytes, func(r int, at operand.Mem) { VMOVUPS(t.regs[r], at) })
	JMP(operand.LabelRef("stored"))
	Label("narrow")
	narrow()
	halves(k, t.bytes/2, func(r int, at operand.Mem) { t.narrow(r, accs, at) })
	Label("stored")
}

// bound limits the sums to the range from 0 to most, if the result has bounds.
func (t *pairsTiler) bound(k reg.GPPhysical) {
	accs := t.p * t.width()
	MOVQ(param("most"), k)
	TESTQ(k, k)
	JE(operand.LabelRef("bounded"))
	zero, most := t.regs[accs], t.regs[accs+1]
	if t.bytes == 64 {
		VPXORD(zero, zero, zero)
	} else {
		VXORPS(zero, zero, zero)
	}
	VBROADCASTSS(operand.Mem{Base: k}, most)
	for r := range accs {
		VMAXPS(t.regs[r], zero, t.regs[r])
		VMINPS(t.regs[r], most, t.regs[r])
	}
	Label("bounded")
}
