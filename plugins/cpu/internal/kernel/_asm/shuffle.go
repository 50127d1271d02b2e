package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// shuffle writes the pixels of two or three images as one, with the channels of the images in turn. It
// processes a vector of channels of each image at a time. The last vector ends with the last channel, so
// some channels are written twice.
func shuffle() {
	for _, set := range []isa{avx512, avx2} {
		shuffleTwo(set)
		shuffleThree(set)
		everySecond(set)
	}
}

// shuffleThree writes one pixel of three images.
func shuffleThree(set isa) {
	TEXT("shuffleThree"+set.name, NOSPLIT,
		"func(dst *float32, a *float32, b *float32, c *float32, channels int)")
	Pragma("noescape")
	dst, at, last := reg.RAX, reg.RDX, reg.RSI
	planes := []reg.GPPhysical{reg.RBX, reg.RCX, reg.RDI}
	MOVQ(param("dst"), dst)
	for i, name := range []string{"a", "b", "c"} {
		MOVQ(param(name), planes[i])
	}
	MOVQ(param("channels"), last)
	SHLQ(operand.Imm(2), last)
	SUBQ(operand.Imm(uint64(set.bytes)), last)
	lanes := set.bytes / 4
	for k := range 3 {
		set.threes(set.regs[8+k], lanes*k, lanes)
		if set.bytes == 64 {
			set.thirds(set.regs[11+k], lanes*k, lanes)
		}
	}
	XORQ(at, at)
	Label("vector")
	for i, p := range planes {
		VMOVUPS(operand.Mem{Base: p, Index: at, Scale: 1}, set.regs[i])
	}
	LEAQ(operand.Mem{Base: at, Index: at, Scale: 2}, reg.R8)
	ADDQ(dst, reg.R8)
	for k := range 3 {
		set.threeVectors(k, operand.Mem{Base: reg.R8, Disp: set.bytes * k})
	}
	CMPQ(at, last)
	JGE(operand.LabelRef("done"))
	ADDQ(operand.Imm(uint64(set.bytes)), at)
	CMPQ(at, last)
	CMOVQGT(last, at)
	JMP(operand.LabelRef("vector"))
	Label("done")
	VZEROUPPER()
	RET()
}

// threes sets r to the indices for taking elements of three vectors in turn. It treats the first two
// vectors; thirds inserts the third. AVX-512 selects from both vectors at once, so indices of the second
// begin at lanes.
func (i isa) threes(r reg.VecPhysical, first, lanes int) {
	table := GLOBL("threes"+r.Asm(), attr.RODATA|attr.NOPTR)
	for e := range lanes {
		n := (first + e) / 3
		if i.bytes == 64 && (first+e)%3 == 1 {
			n += lanes
		}
		DATA(4*e, operand.U32(n))
	}
	i.loadInts(table, r)
}

// thirds sets r to the indices that insert elements of the third vector into the result of
// threes.
func (i isa) thirds(r reg.VecPhysical, first, lanes int) {
	table := GLOBL("thirds"+r.Asm(), attr.RODATA|attr.NOPTR)
	for e := range lanes {
		n := e
		if (first+e)%3 == 2 {
			n = lanes + (first+e)/3
		}
		DATA(4*e, operand.U32(n))
	}
	i.loadInts(table, r)
}

// loadInts loads a vector.
func (i isa) loadInts(src operand.Mem, r reg.VecPhysical) {
	if i.bytes == 64 {
		VMOVDQU32(src, r)
	} else {
		VMOVDQU(src, r)
	}
}

// threeVectors writes vector k of the result, which has the elements of the first three registers in turn.
func (i isa) threeVectors(k int, dst operand.Mem) {
	some, all := i.regs[3], i.regs[4]
	if i.bytes == 64 {
		VMOVDQA32(i.regs[8+k], some)
		VPERMI2PS(i.regs[1], i.regs[0], some)
		VMOVDQA32(i.regs[11+k], all)
		VPERMI2PS(i.regs[2], some, all)
		VMOVUPS(all, dst)
		return
	}
	VPERMPS(i.regs[0], i.regs[8+k], all)
	for plane := 1; plane < 3; plane++ {
		lanes := 0
		for e := range 8 {
			if (8*k+e)%3 == plane {
				lanes |= 1 << e
			}
		}
		VPERMPS(i.regs[plane], i.regs[8+k], some)
		VBLENDPS(operand.Imm(uint64(lanes)), some, all, all)
	}
	VMOVUPS(all, dst)
}

func shuffleTwo(set isa) {
	TEXT("shuffle"+set.name, NOSPLIT, "func(dst *float32, dstStep int, a *float32, aStep int, b *float32, "+
		"bStep int, channels int, count int)")
	Pragma("noescape")
	dst, a, b, at, last, count := reg.RAX, reg.RBX, reg.RCX, reg.RDX, reg.RSI, reg.RDI
	MOVQ(param("dst"), dst)
	MOVQ(param("a"), a)
	MOVQ(param("b"), b)
	MOVQ(param("count"), count)
	MOVQ(param("channels"), last)
	SHLQ(operand.Imm(2), last)
	SUBQ(operand.Imm(uint64(set.bytes)), last)
	if set.bytes == 64 {
		turns(reg.Z4, 0)
		turns(reg.Z5, 8)
	}
	Label("pixel")
	XORQ(at, at)
	Label("vector")
	set.shuffleVectors(operand.Mem{Base: a, Index: at, Scale: 1}, operand.Mem{Base: b, Index: at, Scale: 1},
		operand.Mem{Base: dst, Index: at, Scale: 2})
	CMPQ(at, last)
	JGE(operand.LabelRef("next"))
	ADDQ(operand.Imm(uint64(set.bytes)), at)
	CMPQ(at, last)
	CMOVQGT(last, at)
	JMP(operand.LabelRef("vector"))
	Label("next")
	ADDQ(param("dstStep"), dst)
	ADDQ(param("aStep"), a)
	ADDQ(param("bStep"), b)
	DECQ(count)
	JNE(operand.LabelRef("pixel"))
	VZEROUPPER()
	RET()
}

// everySecond writes every second channel of an image, from the one at src on. It reads the
// vectors of a pixel in pairs. The second vector of the last pair begins at the last value
// of the first, so that it never reads past the last channel.
func everySecond(set isa) {
	TEXT("everySecond"+set.name, NOSPLIT, "func(dst *float32, dstStep int, src *float32, srcStep int, "+
		"channels int, count int)")
	Pragma("noescape")
	dst, src, at, last, count := reg.RAX, reg.RBX, reg.RDX, reg.RSI, reg.RDI
	MOVQ(param("dst"), dst)
	MOVQ(param("src"), src)
	MOVQ(param("count"), count)
	MOVQ(param("channels"), last)
	SHLQ(operand.Imm(2), last)
	SUBQ(operand.Imm(uint64(set.bytes)), last)
	if set.bytes == 64 {
		table := GLOBL("second"+reg.Z4.Asm(), attr.RODATA|attr.NOPTR)
		for i := range 16 {
			DATA(4*i, operand.U32(2*i+i/8))
		}
		VMOVDQU32(table, reg.Z4)
	}
	Label("pixel")
	XORQ(at, at)
	Label("vector")
	low := operand.Mem{Base: src, Index: at, Scale: 2}
	high := low.Offset(set.bytes - 4)
	if set.bytes == 64 {
		VMOVUPS(low, reg.Z0)
		VMOVDQA32(reg.Z4, reg.Z1)
		VPERMI2PS(high, reg.Z0, reg.Z1)
		VMOVUPS(reg.Z1, operand.Mem{Base: dst, Index: at, Scale: 1})
	} else {
		const outer, crossed = 0xd8, 0xd8 // of elements, 0, 2 and 1, 3; of quarters, 0, 2, 1, 3
		VMOVUPS(low, reg.Y0)
		VSHUFPS(operand.Imm(outer), high, reg.Y0, reg.Y0) // a0 a2 b1 b3  a4 a6 b5 b7
		VPERMPD(operand.Imm(crossed), reg.Y0, reg.Y0)
		VMOVUPS(reg.Y0, operand.Mem{Base: dst, Index: at, Scale: 1})
	}
	CMPQ(at, last)
	JGE(operand.LabelRef("next"))
	ADDQ(operand.Imm(uint64(set.bytes)), at)
	CMPQ(at, last)
	CMOVQGT(last, at)
	JMP(operand.LabelRef("vector"))
	Label("next")
	ADDQ(param("dstStep"), dst)
	ADDQ(param("srcStep"), src)
	DECQ(count)
	JNE(operand.LabelRef("pixel"))
	VZEROUPPER()
	RET()
}

// turns sets r to the indices first, 16+first, first+1, 16+first+1 and so on, which
// interleave two vectors.
func turns(r reg.VecPhysical, first int) {
	table := GLOBL("shuffle"+r.Asm(), attr.RODATA|attr.NOPTR)
	for i := range 8 {
		DATA(8*i, operand.U32(first+i))
		DATA(8*i+4, operand.U32(16+first+i))
	}
	VMOVDQU32(table, r)
}

// shuffleVectors writes the elements of a vector at a and of a vector at b in turn.
func (i isa) shuffleVectors(a, b, dst operand.Mem) {
	high := dst
	high.Disp = i.bytes
	if i.bytes == 64 {
		VMOVUPS(a, reg.Z0)
		VMOVUPS(b, reg.Z1)
		VMOVDQA32(reg.Z4, reg.Z2)
		VMOVDQA32(reg.Z5, reg.Z3)
		VPERMI2PS(reg.Z1, reg.Z0, reg.Z2)
		VPERMI2PS(reg.Z1, reg.Z0, reg.Z3)
		VMOVUPS(reg.Z2, dst)
		VMOVUPS(reg.Z3, high)
		return
	}
	VMOVUPS(a, reg.Y0)
	VMOVUPS(b, reg.Y1)
	VUNPCKLPS(reg.Y1, reg.Y0, reg.Y2) // a0 b0 a1 b1  a4 b4 a5 b5
	VUNPCKHPS(reg.Y1, reg.Y0, reg.Y3) // a2 b2 a3 b3  a6 b6 a7 b7
	VPERM2F128(operand.Imm(0x20), reg.Y3, reg.Y2, reg.Y4)
	VPERM2F128(operand.Imm(0x31), reg.Y3, reg.Y2, reg.Y5)
	VMOVUPS(reg.Y4, dst)
	VMOVUPS(reg.Y5, high)
}
