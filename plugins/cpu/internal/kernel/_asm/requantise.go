package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// requantise writes the conversion of sums to bytes: y = roundeven(float32(sum)*by) + zero
// within bounds. The upper bound is applied before the conversion to integers, which would
// overflow. Values that are too small convert to the least integer, and packing bounds
// them.
func requantise() {
	requantiseWide()
	requantiseNarrow()
}

const requantiseParams = "func(out *byte, outs *int32, sums *int32, by *float32, most float32, zero int, " +
	"least int, channels int, positions int)"

// requantiser has the registers of a walk over positions and channels that converts sums to bytes.
type requantiser struct {
	isa
	out, outs, sums, factors, remaining, c reg.GPPhysical
	high, zero, low                        reg.VecPhysical
}

func newRequantiser(set isa) *requantiser {
	n := len(set.regs)
	r := &requantiser{set, reg.RAX, reg.RBX, reg.RCX, reg.RDX, reg.RSI, reg.RDI, set.regs[n-1], set.regs[n-2],
		set.regs[n-3]}
	VBROADCASTSS(param("most"), r.high)
	MOVQ(param("zero"), r.c)
	VMOVQ(r.c, reg.X0)
	VPBROADCASTW(reg.X0, r.zero)
	MOVQ(param("least"), r.c)
	VMOVQ(r.c, reg.X0)
	VPBROADCASTB(reg.X0, r.low)
	MOVQ(param("outs"), r.outs)
	MOVQ(param("sums"), r.sums)
	MOVQ(param("by"), r.factors)
	return r
}

// position writes the code that begins a position, and next the code that ends it.
func (r *requantiser) position() {
	Label("position")
	MOVLQSX(operand.Mem{Base: r.outs}, r.out)
	SARQ(operand.Imm(2), r.out)
	ADDQ(param("out"), r.out)
	MOVQ(param("channels"), r.remaining)
	XORQ(r.c, r.c)
}

func (r *requantiser) next() {
	Label("next")
	ADDQ(operand.Imm(4), r.outs)
	ADDQ(operand.U32(sumBytes), r.sums)
	DECQ(param("positions"))
	JNE(operand.LabelRef("position"))
	VZEROUPPER()
	RET()
}

// round converts vector v of the sums from channel c on, and stores them in register dst.
func (r *requantiser) round(v int, dst reg.VecPhysical) {
	VCVTDQ2PS(operand.Mem{Base: r.sums, Index: r.c, Scale: 4, Disp: r.bytes * v}, dst)
	VMULPS(operand.Mem{Base: r.factors, Index: r.c, Scale: 4, Disp: r.bytes * v}, dst, dst)
	VMINPS(r.high, dst, dst)
	VCVTPS2DQ(dst, dst)
}

// requantiseWide converts 64 channels at once, and the remaining channels 16 at a time.
func requantiseWide() {
	order := GLOBL("int8Order", attr.RODATA|attr.NOPTR)
	for v := range 4 {
		for i := range 4 {
			DATA(4*(4*v+i), operand.U32(uint32(4*i+v)))
		}
	}
	TEXT("requantiseAVX512", NOSPLIT, requantiseParams)
	Pragma("noescape")
	r := newRequantiser(avx512)
	turn, zeros, some, mask := zmm[27], zmm[28], reg.R8, reg.K1
	VMOVDQU32(order, turn)
	VPXORD(zeros, zeros, zeros)
	r.position()
	Label("wide")
	CMPQ(r.remaining, operand.Imm(64))
	JLT(operand.LabelRef("some"))
	for v := range 4 {
		r.round(v, zmm[v])
	}
	VPACKSSDW(zmm[1], zmm[0], zmm[0])
	VPACKSSDW(zmm[3], zmm[2], zmm[2])
	VPADDSW(r.zero, zmm[0], zmm[0])
	VPADDSW(r.zero, zmm[2], zmm[2])
	VPACKUSWB(zmm[2], zmm[0], zmm[0])
	VPMAXUB(r.low, zmm[0], zmm[0])
	VPERMD(zmm[0], turn, zmm[0])
	VMOVDQU32(zmm[0], operand.Mem{Base: r.out, Index: r.c, Scale: 1})
	ADDQ(operand.Imm(64), r.c)
	SUBQ(operand.Imm(64), r.remaining)
	JMP(operand.LabelRef("wide"))
	Label("some")
	TESTQ(r.remaining, r.remaining)
	JLE(operand.LabelRef("next"))
	MOVL(operand.U32(0xffff), some.As32())
	CMPQ(r.remaining, operand.Imm(16))
	JGE(operand.LabelRef("full"))
	BZHIL(r.remaining.As32(), some.As32(), some.As32())
	Label("full")
	KMOVW(some.As32(), mask)
	r.round(0, zmm[0])
	VPACKSSDW(zmm[0], zmm[0], zmm[0])
	VPADDSW(r.zero, zmm[0], zmm[0])
	VPACKUSWB(zmm[0], zmm[0], zmm[0])
	VPMAXUB(r.low, zmm[0], zmm[0])
	VPERMD(zmm[0], turn, zmm[0])
	VMOVDQU8(reg.X0, mask, operand.Mem{Base: r.out, Index: r.c, Scale: 1})
	ADDQ(operand.Imm(16), r.c)
	SUBQ(operand.Imm(16), r.remaining)
	JMP(operand.LabelRef("some"))
	r.next()
}

// requantiseNarrow converts 16 channels at once; fewer are copied one by one.
func requantiseNarrow() {
	TEXT("requantiseAVX2", NOSPLIT, requantiseParams)
	Pragma("noescape")
	r := newRequantiser(avx2)
	at, value := reg.R8, reg.R9
	spare := AllocLocal(16)
	r.position()
	Label("some")
	TESTQ(r.remaining, r.remaining)
	JLE(operand.LabelRef("next"))
	r.round(0, ymm[0])
	r.round(1, ymm[1])
	VPACKSSDW(ymm[1], ymm[0], ymm[0])
	VPERMQ(operand.Imm(0xd8), ymm[0], ymm[0])
	VPADDSW(r.zero, ymm[0], ymm[0])
	VEXTRACTI128(operand.Imm(1), ymm[0], reg.X1)
	VPACKUSWB(reg.X1, reg.X0, reg.X0)
	VPMAXUB(reg.X13, reg.X0, reg.X0)
	CMPQ(r.remaining, operand.Imm(16))
	JLT(operand.LabelRef("few"))
	VMOVDQU(reg.X0, operand.Mem{Base: r.out, Index: r.c, Scale: 1})
	ADDQ(operand.Imm(16), r.c)
	SUBQ(operand.Imm(16), r.remaining)
	JMP(operand.LabelRef("some"))
	Label("few")
	VMOVDQU(reg.X0, spare)
	ADDQ(r.c, r.out)
	XORQ(at, at)
	Label("byte")
	MOVBQZX(spare.Idx(at, 1), value)
	MOVB(value.As8(), operand.Mem{Base: r.out, Index: at, Scale: 1})
	INCQ(at)
	CMPQ(at, r.remaining)
	JLT(operand.LabelRef("byte"))
	r.next()
}
