package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// depthwiseInt8 writes products of bytes with one channel per group. The bytes of four taps are
// interleaved, so that the four bytes of a channel are adjacent, as one instruction multiplies them. The
// four vectors of sums have the channels in an interleaved order, which packing to bytes undoes.
func depthwiseInt8() {
	for _, t := range []int8Tiler{{avx512, "AVX512VNNI", 0, 0, evexDot}, {avx512, "AVX512Words", 0, 0, byWords},
		{avx2, "AVXVNNI", 0, 0, vexDot}, {avx2, "AVX2Words", 0, 0, byWords}} {
		t.depthwise()
	}
}

// depthwise writes the walk over runs of adjacent positions with the same taps inside the image. Their
// results are chunks, which consist of blocks of one register of bytes.
func (t *int8Tiler) depthwise() {
	TEXT("depthwiseInt8"+t.name, NOSPLIT, "func(out *byte, outs *int32, in *byte, pad int, offs *int32, "+
		"offStep int, taps int, quads int, w *int8, start *int32, by *float32, most float32, zero int, least int, "+
		"width int, chunk int, advance int, runs *int32, positions int, at *[64]uintptr, spare *byte)")
	Pragma("noescape")
	out, w, start, by, at, left := reg.RAX, reg.RBX, reg.RCX, reg.RDX, reg.RSI, reg.RDI
	quad, c, x0 := reg.R8, reg.R9, reg.R15
	count, rest, begin := AllocLocal(8), AllocLocal(8), AllocLocal(8)
	x := []reg.GPPhysical{reg.R10, reg.R11, reg.R12, reg.R13}
	n := len(t.regs)
	most, zero, least := t.regs[n-1], t.regs[n-2], t.regs[n-3]
	t.evenBytes(t.regs[n-4])
	VBROADCASTSS(param("most"), most)
	MOVQ(param("zero"), c)
	VMOVQ(c, reg.X0)
	VPBROADCASTW(reg.X0, zero)
	MOVQ(param("least"), c)
	VMOVQ(c, reg.X0)
	VPBROADCASTB(reg.X0, least)
	Comment("taps that fill the last quad see padding, with weights of 0")
	MOVQ(param("at"), at)
	MOVQ(param("quads"), quad)
	SHLQ(operand.Imm(2), quad)
	MOVQ(param("in"), c)
	ADDQ(param("pad"), c)
	Label("fill")
	MOVQ(c, operand.Mem{Base: at, Index: quad, Scale: 8, Disp: -8})
	DECQ(quad)
	CMPQ(quad, param("taps"))
	JGT(operand.LabelRef("fill"))

	Label("run")
	MOVQ(param("offs"), x[0])
	MOVQ(param("taps"), quad)
	MOVQ(param("at"), at)
	Label("resolve")
	MOVLQSX(operand.Mem{Base: x[0]}, x[1])
	TESTQ(x[1], x[1])
	CMOVQLT(param("pad"), x[1])
	ADDQ(param("in"), x[1])
	MOVQ(x[1], operand.Mem{Base: at})
	ADDQ(operand.Imm(8), at)
	ADDQ(param("offStep"), x[0])
	DECQ(quad)
	JNE(operand.LabelRef("resolve"))
	MOVQ(param("outs"), out)
	MOVLQSX(operand.Mem{Base: out}, out)
	SARQ(operand.Imm(2), out)
	ADDQ(param("out"), out)
	Comment("the bytes of the results of the run")
	MOVQ(param("runs"), left)
	MOVLQSX(operand.Mem{Base: left}, left)
	CMPQ(left, param("positions"))
	CMOVQGT(param("positions"), left)
	MOVQ(left, count)
	IMULQ(param("width"), left)
	MOVQ(left, rest)
	XORQ(x0, x0)
	MOVQ(x0, begin)

	Label("chunk")
	Comment("x0 is where the chunk begins in the runs of the taps")
	MOVQ(begin, x0)
	MOVQ(param("chunk"), left)
	CMPQ(left, rest)
	CMOVQGT(rest, left)
	MOVQ(param("w"), w)
	MOVQ(param("start"), start)
	MOVQ(param("by"), by)
	XORQ(c, c)

	Label("block")
	for j := range 4 {
		t.move(operand.Mem{Base: start, Index: c, Scale: 4, Disp: t.bytes * j}, t.regs[j])
	}
	MOVQ(param("at"), at)
	MOVQ(param("quads"), quad)
	Label("quad")
	for i := range x {
		MOVQ(operand.Mem{Base: at, Disp: 8 * i}, x[i])
	}
	ADDQ(operand.Imm(32), at)
	t.interleave(x, x0)
	for j := range 4 {
		t.add(j, w)
	}
	ADDQ(operand.U32(uint64(t.quadBytes())), w)
	DECQ(quad)
	JNE(operand.LabelRef("quad"))
	for j := range 4 {
		VCVTDQ2PS(t.regs[j], t.regs[j])
		VMULPS(operand.Mem{Base: by, Index: c, Scale: 4, Disp: t.bytes * j}, t.regs[j], t.regs[j])
		VMINPS(most, t.regs[j], t.regs[j])
		VCVTPS2DQ(t.regs[j], t.regs[j])
	}
	t.pack(zero, least)
	t.put(out, c, left, x[0], x[1])
	ADDQ(operand.Imm(uint64(t.bytes)), c)
	ADDQ(operand.Imm(uint64(t.bytes)), x0)
	SUBQ(operand.Imm(uint64(t.bytes)), left)
	JG(operand.LabelRef("block"))
	MOVQ(param("advance"), c)
	ADDQ(c, begin)
	MOVQ(param("chunk"), c)
	ADDQ(c, out)
	SUBQ(c, rest)
	JG(operand.LabelRef("chunk"))
	MOVQ(count, c)
	SUBQ(c, param("positions"))
	JLE(operand.LabelRef("end"))
	SHLQ(operand.Imm(2), c)
	ADDQ(c, param("offs"))
	ADDQ(c, param("outs"))
	ADDQ(c, param("runs"))
	JMP(operand.LabelRef("run"))
	Label("end")
	VZEROUPPER()
	RET()
}

// quadBytes returns the size in bytes of the weights of a quad of taps.
func (t *int8Tiler) quadBytes() int {
	if t.factors == byWords {
		return 8 * t.bytes
	}
	return 4 * t.bytes
}

// interleave loads the bytes of four taps from channel c on: registers 4 to 7 get the quads.
func (t *int8Tiler) interleave(x []reg.GPPhysical, c reg.GPPhysical) {
	v := t.regs
	for i := range x {
		t.move(operand.Mem{Base: x[i], Index: c, Scale: 1}, v[4+i])
	}
	VPUNPCKLBW(v[5], v[4], v[8])
	VPUNPCKHBW(v[5], v[4], v[9])
	VPUNPCKLBW(v[7], v[6], v[10])
	VPUNPCKHBW(v[7], v[6], v[11])
	VPUNPCKLWD(v[10], v[8], v[4])
	VPUNPCKHWD(v[10], v[8], v[5])
	VPUNPCKLWD(v[11], v[9], v[6])
	VPUNPCKHWD(v[11], v[9], v[7])
}

// add multiplies the quads in register 4+j by their weights, and adds the products to the sums in register j.
func (t *int8Tiler) add(j int, w reg.GPPhysical) {
	v := t.regs
	switch t.factors {
	case evexDot:
		Instruction(&ir.Instruction{Opcode: "VPDPBUSD", Operands: []operand.Op{
			operand.Mem{Base: w, Disp: t.bytes * j}, v[4+j], v[j]}})
	case vexDot:
		VMOVDQU(operand.Mem{Base: w, Disp: t.bytes * j}, v[8+j])
		t.dot(8+j, 4+j, j)
	default:
		t.even(v[4+j], v[8+j])
		VPSRLW(operand.Imm(8), v[4+j], v[4+j])
		VPMADDWD(operand.Mem{Base: w, Disp: 2 * t.bytes * j}, v[8+j], v[8+j])
		VPADDD(v[8+j], v[j], v[j])
		VPMADDWD(operand.Mem{Base: w, Disp: 2*t.bytes*j + t.bytes}, v[4+j], v[4+j])
		VPADDD(v[4+j], v[j], v[j])
	}
}

// even keeps the even bytes of x.
func (t *int8Tiler) even(x, dst reg.VecPhysical) {
	mask := t.regs[len(t.regs)-4]
	if t.bytes == 64 {
		VPANDD(x, mask, dst)
	} else {
		VPAND(x, mask, dst)
	}
}

// pack converts the integers in registers 0 to 3 to bytes in register 0.
func (t *int8Tiler) pack(zero, low reg.VecPhysical) {
	v := t.regs
	VPACKSSDW(v[1], v[0], v[0])
	VPACKSSDW(v[3], v[2], v[2])
	VPADDSW(zero, v[0], v[0])
	VPADDSW(zero, v[2], v[2])
	VPACKUSWB(v[2], v[0], v[0])
	VPMAXUB(low, v[0], v[0])
}

// put stores the first bytes of register 0. remaining is their number; if it is larger than the register,
// put stores all.
func (t *int8Tiler) put(out, c, remaining, at, value reg.GPPhysical) {
	to := operand.Mem{Base: out, Index: c, Scale: 1}
	CMPQ(remaining, operand.Imm(uint64(t.bytes)))
	JLT(operand.LabelRef("few"))
	t.move(t.regs[0], to)
	JMP(operand.LabelRef("stored"))
	Label("few")
	if t.bytes == 64 {
		MOVQ(operand.I32(-1), at)
		BZHIQ(remaining, at, at)
		KMOVQ(at, reg.K1)
		VMOVDQU8(t.regs[0], reg.K1, to)
	} else {
		spare, last := reg.R12, reg.R13
		MOVQ(param("spare"), spare)
		VMOVDQU(t.regs[0], operand.Mem{Base: spare})
		LEAQ(to, last)
		XORQ(at, at)
		Label("byte")
		MOVBQZX(operand.Mem{Base: spare, Index: at, Scale: 1}, value)
		MOVB(value.As8(), operand.Mem{Base: last, Index: at, Scale: 1})
		INCQ(at)
		CMPQ(at, remaining)
		JLT(operand.LabelRef("byte"))
	}
	Label("stored")
}
