package main

import (
	"encoding/binary"
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rounding rounds values to bfloat16. It reserves the vector registers in scratch.
type rounding struct {
	isa
	name    string // suffix of the names of the functions
	native  bool   // the processor has an instruction for rounding, which needs no other registers
	exact   bool   // the processor does not flush subnormal values
	scratch []reg.VecPhysical
}

// bf16 writes the roundings to bfloat16.
func bf16() {
	for _, r := range []rounding{{isa: avx512, name: "AVX512BF16", native: true},
		{isa: avx2, name: "AVX2", scratch: ymm[12:16]}} {
		bf16Loop(r, "round", "func(x *float32, count int)", func(x, _ reg.GPPhysical) {
			VMOVUPS(operand.Mem{Base: x}, r.regs[0])
			r.round(0, 1)
			VMOVUPS(r.regs[0], operand.Mem{Base: x})
		})
		bf16Loop(r, "narrow", "func(y *uint16, x *float32, count int)", func(x, y reg.GPPhysical) {
			VMOVUPS(operand.Mem{Base: x}, r.regs[0])
			r.narrow(0, 1, operand.Mem{Base: y})
			ADDQ(operand.Imm(uint64(r.bytes/2)), y)
		})
		bf16Loop(r, "widen", "func(x *float32, y *uint16, count int)", func(x, y reg.GPPhysical) {
			r.widen(operand.Mem{Base: y}, r.regs[0])
			VMOVUPS(r.regs[0], operand.Mem{Base: x})
			ADDQ(operand.Imm(uint64(r.bytes/2)), y)
		})
	}
}

// widen loads a vector of bfloat16 as float32.
func (i isa) widen(src operand.Mem, dst reg.VecPhysical) {
	VPMOVZXWD(src, dst)
	VPSLLD(operand.Imm(16), dst, dst)
}

// bf16Loop writes a function with a loop over whole vectors. body writes the code for one vector.
func bf16Loop(r rounding, name, signature string, body func(x, y reg.GPPhysical)) {
	TEXT(name+"BF16"+r.name, NOSPLIT, signature)
	Pragma("noescape")
	x, y, count := pointers[0], pointers[1], pointers[2]
	MOVQ(param("x"), x)
	if name != "round" {
		MOVQ(param("y"), y)
	}
	MOVQ(param("count"), count)
	restore := func() {}
	if !r.native && name != "widen" {
		restore = flushSubnormals(pointers[3])
		r.constants()
	}
	Label("some")
	body(x, y)
	ADDQ(operand.Imm(uint64(r.bytes)), x)
	SUBQ(operand.Imm(uint64(r.bytes/4)), count)
	JNE(operand.LabelRef("some"))
	restore()
	VZEROUPPER()
	RET()
}

// flushSubnormals writes code that makes the processor treat subnormal operands and results as zeros.
// restore writes the code that ends this.
func flushSubnormals(spare reg.GPPhysical) (restore func()) {
	const denormalsAreZero, flushToZero = 1 << 6, 1 << 15
	before, during := AllocLocal(8), AllocLocal(8)
	STMXCSR(before)
	MOVL(before, spare.As32())
	ORL(operand.U32(denormalsAreZero|flushToZero), spare.As32())
	MOVL(spare.As32(), during)
	LDMXCSR(during)
	return func() { LDMXCSR(before) }
}

// constants fills the registers with the constants that the rounding reads.
func (r rounding) constants() {
	if r.native {
		return
	}
	upper, half, least := r.scratch[0], r.scratch[1], r.scratch[2]
	r.upper(upper)
	VPSRLD(operand.Imm(1), upper, half)
	VPSRLD(operand.Imm(16), half, half)
	VPSLLD(operand.Imm(15), upper, least) // -0, which is added below
	if r.exact {
		VPSRLD(operand.Imm(8), least, least) // the smallest normal number
	}
}

// upper fills a register with the mask of upper halves.
func (i isa) upper(x reg.VecPhysical) {
	i.ones(x)
	VPSLLD(operand.Imm(16), x, x)
}

// ones sets all bits of a register.
func (i isa) ones(x reg.VecPhysical) {
	if i.bytes == 64 {
		VPTERNLOGD(operand.U8(0xff), x, x, x)
	} else {
		VPCMPEQD(x, x, x)
	}
}

// flush makes subnormal values in x zeros; t is spare.
func (r rounding) flush(x, t reg.VecPhysical) {
	least := r.scratch[2]
	if !r.exact {
		VADDPS(least, x, x)
		return
	}
	VPSLLD(operand.Imm(1), x, t)
	VPSRLD(operand.Imm(1), t, t)
	VPCMPGTD(t, least, t)
	VPSRLD(operand.Imm(1), t, t)
	VPANDN(x, t, x)
}

// bits rounds the values in register x. The result is in the upper half of each lane. Subnormal values
// become zeros. t is a spare register.
func (r rounding) bits(x, t reg.VecPhysical) {
	upper, half := r.scratch[0], r.scratch[1]
	r.flush(x, t)
	VPSLLD(operand.Imm(15), x, t)
	VPSRLD(operand.Imm(31), t, t)
	VPADDD(half, t, t)
	VPADDD(x, t, t)
	if r.bytes == 64 {
		VCMPPS(operand.Imm(unordered), x, x, reg.K1)
		VMOVDQA32(t, x)
		VMOVDQA32(upper, reg.K1, x)
		VPANDD(upper, x, x)
		return
	}
	VCMPPS(operand.Imm(unordered), x, x, x)
	VPOR(t, x, x)
	VPAND(upper, x, x)
}

// round rounds register i in place; register t is spare.
func (r rounding) round(i, t int) {
	x, spare := r.regs[i], r.regs[t]
	if !r.native {
		r.bits(x, spare)
		return
	}
	vcvtneps2bf16(i, t)
	VPMOVZXWD(ymmOf(t), x)
	VPSLLD(operand.Imm(16), x, x)
}

// narrow stores register i as bfloat16; register t is spare.
func (r rounding) narrow(i, t int, dst operand.Mem) {
	x, spare := r.regs[i], r.regs[t]
	if r.native {
		vcvtneps2bf16(i, t)
		VMOVDQU32(ymmOf(t), dst)
		return
	}
	r.bits(x, spare)
	VPSRLD(operand.Imm(16), x, x)
	r.packed(x, dst)
}

// packed stores the lower half of every lane of x. The upper halves are 0.
func (r rounding) packed(x reg.VecPhysical, dst operand.Mem) {
	if r.bytes == 64 {
		VPMOVDW(x, dst)
		return
	}
	VPACKUSDW(x, x, x)
	VPERMQ(operand.Imm(0xd8), x, x)
	VMOVDQU(x.AsX(), dst)
}

// ymmOf returns the lower half of register i of AVX-512.
func ymmOf(i int) reg.VecPhysical { return zmm[i].AsY().(reg.VecPhysical) }

// vdpbf16ps adds to register dst, of AVX-512, the products of the pairs in a
// and b: VDPBF16PS, EVEX.512.F3.0F38.W0 52 /r, which Go's assembler lacks.
func vdpbf16ps(a, b, dst int) {
	Comment(fmt.Sprintf("VDPBF16PS Z%d, Z%d, Z%d", a, b, dst))
	emitWords(evex(0x52, dst, b, a))
}

// vcvtneps2bf16 rounds the register src of AVX-512 to the lower half of dst:
// VCVTNEPS2BF16, EVEX.512.F3.0F38.W0 72 /r, which Go's assembler lacks.
func vcvtneps2bf16(src, dst int) {
	Comment(fmt.Sprintf("VCVTNEPS2BF16 Z%d, Y%d", src, dst))
	emitWords(evex(0x72, dst, 0, src))
}

// evex returns EVEX.512.F3.0F38.W0 with three registers by number (Intel SDM 2A, 2.7.1):
// reg and rm in the ModRM byte, v in the prefix with most bits inverted.
func evex(opcode byte, regNumber, v, rm int) []byte {
	inverted := func(n, bit, to int) byte { return byte(^n>>bit&1) << to }
	p0 := inverted(regNumber, 3, 7) | inverted(rm, 4, 6) | inverted(rm, 3, 5) | inverted(regNumber, 4, 4) | 2
	p1 := byte(^v&15)<<3 | 1<<2 | 2
	p2 := byte(2<<5) | inverted(v, 4, 3)
	modrm := byte(3<<6 | regNumber&7<<3 | rm&7)
	return []byte{0x62, p0, p1, p2, opcode, modrm}
}

// emitWords writes an instruction of six bytes.
func emitWords(b []byte) {
	prefix, rest := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint16(b[4:])
	Instruction(&ir.Instruction{Opcode: "LONG", Operands: []operand.Op{operand.U32(prefix)}})
	Instruction(&ir.Instruction{Opcode: "WORD", Operands: []operand.Op{operand.U16(rest)}})
}
