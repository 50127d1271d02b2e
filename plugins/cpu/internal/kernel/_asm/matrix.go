package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A tile has 16 rows of 64 bytes. Tile registers 0 to 3 hold sums, 4 and 5
// positions, 6 and 7 channels.
const (
	tileBytes    = 1024
	tilePosition = 4
	tileChannel  = 6
)

// subnormalsAreZero are the bits of MXCSR that make subnormal operands and
// results zeros.
const subnormalsAreZero = 1<<6 | 1<<15

// partOrder lists the products of parts in the order of kernel.termOrder.
var partOrder = map[int][][2]int{
	1: {{0, 0}},
	3: {{0, 2}, {0, 1}, {1, 1}, {1, 0}, {2, 0}, {0, 0}},
}

// matrix writes the functions that kernel.Matrix uses.
func matrix() {
	shapes := tileShapes()
	for _, parts := range []int{1, 3} {
		for _, m := range []int{1, 2} {
			for _, n := range []int{1, 2} {
				matrixProduct(shapes, parts, m, n)
			}
		}
	}
	matrixGather()
	matrixSplit()
	matrixStore()
}

// tileShapes writes the operand of LDTILECFG: palette 1, 8 full tiles.
func tileShapes() operand.Mem {
	m := GLOBL("tileShapes", attr.RODATA|attr.NOPTR)
	DATA(0, operand.U64(1))
	DATA(8, operand.U64(0))
	for i := range 2 {
		DATA(16+8*i, operand.U64(0x0040004000400040))
	}
	for i := range 2 {
		DATA(32+8*i, operand.U64(0))
	}
	DATA(48, operand.U64(0x1010101010101010))
	DATA(56, operand.U64(0))
	return m
}

// matrixProduct writes the sums of m tiles of positions by n of channels. Tiles hold data only within the
// function, which cannot be preempted.
func matrixProduct(shapes operand.Mem, terms, m, n int) {
	TEXT(fmt.Sprintf("matrixProduct%dx%dx%d", terms, m, n), NOSPLIT,
		"func(sums *float32, a *uint16, b *uint16, steps int, times int, line int, tile int, step int)")
	Pragma("noescape")
	a, b, sums, left, wide := [2]reg.GPPhysical{reg.RSI, reg.R11}, reg.RDI, reg.RDX, reg.RCX, reg.R8
	line, pair, step := reg.RBX, reg.R9, reg.R10
	LEAQ(shapes, reg.RAX)
	ldtilecfg(reg.RAX)
	MOVQ(param("sums"), sums)
	MOVQ(param("b"), b)
	MOVQ(param("line"), line)
	MOVQ(param("step"), step)
	MOVQ(operand.U32(64), pair)
	MOVQ(operand.U32(256), wide)
	Label("channels")
	for i := range m * n {
		tilezero(i)
	}
	MOVQ(param("a"), a[0])
	MOVQ(a[0], a[1])
	ADDQ(param("tile"), a[1])
	MOVQ(param("steps"), left)
	TESTQ(left, left)
	JE(operand.LabelRef("store"))
	Label("step")
	held := [2]int{-1, -1}
	for _, part := range partOrder[terms] {
		if part[0] != held[0] {
			for i := range m {
				tileloadd(tilePosition+i, a[i], line, 2*part[0]*tileBytes)
			}
		}
		if part[1] != held[1] {
			for j := range n {
				tileloadd(tileChannel+j, b, pair, (n*part[1]+j)*tileBytes)
			}
		}
		held = part
		for i := range m {
			for j := range n {
				tdpbf16ps(i*n+j, tilePosition+i, tileChannel+j)
			}
		}
	}
	for i := range m {
		ADDQ(step, a[i])
	}
	ADDQ(operand.U32(n*terms*tileBytes), b)
	DECQ(left)
	JNE(operand.LabelRef("step"))
	Label("store")
	for i := range m {
		for j := range n {
			tilestored(i*n+j, sums, wide, 16*256*i+64*j)
		}
	}
	ADDQ(operand.Imm(uint64(64*n)), sums)
	DECQ(param("times"))
	JNE(operand.LabelRef("channels"))
	tilerelease()
	RET()
}

// matrixGather writes the function that copies runs of positions to a tile.
func matrixGather() {
	TEXT("matrixGather", NOSPLIT, "func(staged *uint16, in *uint16, offs *int32, offStep int, taps int, "+
		"lines int, positions int)")
	Pragma("noescape")
	from, to, offs, tap := pointers[0], pointers[1], pointers[2], pointers[3]
	left, position := pointers[4], pointers[5]
	Label("position")
	MOVQ(param("staged"), to)
	MOVQ(param("offs"), offs)
	MOVQ(param("taps"), tap)
	Label("tap")
	MOVQ(param("lines"), left)
	MOVLQSX(operand.Mem{Base: offs}, from)
	ADDQ(param("offStep"), offs)
	TESTQ(from, from)
	JL(operand.LabelRef("padding"))
	Comment("offsets are of float32")
	SHRQ(operand.Imm(1), from)
	ADDQ(param("in"), from)
	Label("line")
	VMOVUPS(operand.Mem{Base: from}, zmm[0])
	VMOVUPS(zmm[0], operand.Mem{Base: to})
	ADDQ(operand.Imm(64), from)
	ADDQ(operand.U32(2*tileBytes), to)
	DECQ(left)
	JNE(operand.LabelRef("line"))
	JMP(operand.LabelRef("next"))
	Label("padding")
	VPXORD(zmm[1], zmm[1], zmm[1])
	Label("zeros")
	VMOVUPS(zmm[1], operand.Mem{Base: to})
	ADDQ(operand.U32(2*tileBytes), to)
	DECQ(left)
	JNE(operand.LabelRef("zeros"))
	Label("next")
	DECQ(tap)
	JNE(operand.LabelRef("tap"))
	MOVQ(param("staged"), position)
	ADDQ(operand.Imm(64), position)
	MOVQ(position, param("staged"))
	ADDQ(operand.Imm(4), param("offs"))
	DECQ(param("positions"))
	JNE(operand.LabelRef("position"))
	VZEROUPPER()
	RET()
}

// matrixSplit writes the function that splits values into three parts, 32 values at a time.
func matrixSplit() {
	TEXT("matrixSplit", NOSPLIT, "func(staged *uint16, x *float32, steps int, lanes *[32]uint32)")
	Pragma("noescape")
	to, x, left, lanes := pointers[0], pointers[1], pointers[2], pointers[3]
	const value, rest, part, size, least, most, one, signs = 0, 1, 2, 3, 4, 5, 6, 7
	MOVQ(param("staged"), to)
	MOVQ(param("x"), x)
	MOVQ(param("steps"), left)
	MOVQ(param("lanes"), lanes)
	VMOVDQU32(operand.Mem{Base: lanes}, zmm[least])
	VMOVDQU32(operand.Mem{Base: lanes, Disp: 64}, zmm[most])
	VPTERNLOGD(operand.Imm(0xff), zmm[signs], zmm[signs], zmm[signs])
	VPSRLD(operand.Imm(31), zmm[signs], zmm[one])
	VPSRLD(operand.Imm(1), zmm[signs], zmm[signs])
	Label("step")
	for half := range 2 {
		VMOVUPS(operand.Mem{Base: x, Disp: 64 * half}, zmm[value])
		Comment("sizes; what is 0 is no smallest")
		VPANDD(zmm[signs], zmm[value], zmm[size])
		VPMAXUD(zmm[size], zmm[most], zmm[most])
		VPSUBD(zmm[one], zmm[size], zmm[size])
		VPMINUD(zmm[size], zmm[least], zmm[least])
		for i := range 3 {
			from := rest
			if i == 0 {
				from = value
			}
			vcvtneps2bf16(from, part)
			VMOVDQU(ymmOf(part), operand.Mem{Base: to, Disp: 2*i*tileBytes + 32*half})
			if i < 2 {
				VPMOVZXWD(ymmOf(part), zmm[part])
				VPSLLD(operand.Imm(16), zmm[part], zmm[part])
				VSUBPS(zmm[part], zmm[from], zmm[rest])
			}
		}
	}
	ADDQ(operand.Imm(128), x)
	ADDQ(operand.U32(6*tileBytes), to)
	DECQ(left)
	JNE(operand.LabelRef("step"))
	VMOVDQU32(zmm[least], operand.Mem{Base: lanes})
	VMOVDQU32(zmm[most], operand.Mem{Base: lanes, Disp: 64})
	VZEROUPPER()
	RET()
}

// matrixStore writes the function that completes sums and stores them in the result. If flush is set, it
// computes a kernel.ScaledEpilogue, otherwise a kernel.Epilogue.
func matrixStore() {
	TEXT("matrixStore", NOSPLIT, "func(out *float32, outs *int32, sums *float32, scale *float32, "+
		"bias *float32, "+epilogueParams+", flush int, round int, channels int, positions int)")
	Pragma("noescape")
	outs, sums, scale, bias, plus := pointers[0], pointers[1], pointers[2], pointers[3], pointers[4]
	out, at, left, c, spare := pointers[5], pointers[6], pointers[7], pointers[8], pointers[9]
	before, during := AllocLocal(8), AllocLocal(8)
	STMXCSR(before)
	CMPQ(param("flush"), operand.Imm(0))
	JE(operand.LabelRef("masks"))
	MOVL(before, spare.As32())
	ORL(operand.U32(subnormalsAreZero), spare.As32())
	MOVL(spare.As32(), during)
	LDMXCSR(during)
	Label("masks")
	lanes, scaled, biased, added, bounded, rounded, use := reg.K1, reg.K2, reg.K3, reg.K4, reg.K5, reg.K6, reg.K7
	const value, zero, most, other, factor = 0, 1, 2, 3, 4
	avx512.clear(3)
	for _, p := range []struct {
		name string
		into reg.GPPhysical
		mask reg.OpmaskPhysical
	}{{"scale", scale, scaled}, {"bias", bias, biased}, {"plus", plus, added}, {"round", at, rounded},
		{"most", spare, bounded}} {
		MOVQ(param(p.name), p.into)
		Comment("all lanes if there is one")
		XORL(left.As32(), left.As32())
		TESTQ(p.into, p.into)
		SETNE(left.As8())
		NEGL(left.As32())
		KMOVW(left.As32(), p.mask)
	}
	TESTQ(spare, spare)
	JE(operand.LabelRef("begin"))
	VBROADCASTSS(operand.Mem{Base: spare}, zmm[most])
	Label("begin")
	MOVQ(param("outs"), outs)
	MOVQ(param("sums"), sums)

	Label("position")
	MOVLQSX(operand.Mem{Base: outs}, out)
	LEAQ(operand.Mem{Base: plus, Index: out, Scale: 1}, at)
	ADDQ(param("out"), out)
	MOVQ(param("channels"), left)
	XORQ(c, c)
	Label("vector")
	Comment("lanes of channels that count")
	MOVL(operand.U32(0xffff), spare.As32())
	CMPQ(left, operand.Imm(16))
	JGE(operand.LabelRef("full"))
	BZHIL(left.As32(), spare.As32(), spare.As32())
	Label("full")
	KMOVW(spare.As32(), lanes)
	VMOVUPS(operand.Mem{Base: sums, Index: c, Scale: 4}, zmm[value])
	KANDW(lanes, biased, use)
	VMOVUPS_Z(operand.Mem{Base: bias, Index: c, Scale: 4}, use, zmm[other])
	KANDW(lanes, scaled, use)
	VMOVUPS_Z(operand.Mem{Base: scale, Index: c, Scale: 4}, use, zmm[factor])
	VFMADD213PS(zmm[other], zmm[factor], use, zmm[value])
	Comment("a bias is added where it has not been")
	KANDNW(biased, scaled, use)
	VADDPS(zmm[other], zmm[value], use, zmm[value])
	KANDW(lanes, added, use)
	VMOVUPS_Z(operand.Mem{Base: at, Index: c, Scale: 4}, use, zmm[other])
	VADDPS(zmm[other], zmm[value], use, zmm[value])
	VMAXPS(zmm[value], zmm[zero], bounded, zmm[value])
	VMINPS(zmm[value], zmm[most], bounded, zmm[value])
	vcvtneps2bf16(value, other)
	VPMOVZXWD(ymmOf(other), zmm[other])
	VPSLLD(operand.Imm(16), zmm[other], rounded, zmm[value])
	VMOVUPS(zmm[value], lanes, operand.Mem{Base: out, Index: c, Scale: 4})
	ADDQ(operand.Imm(16), c)
	SUBQ(operand.Imm(16), left)
	JG(operand.LabelRef("vector"))
	ADDQ(operand.Imm(4), outs)
	ADDQ(operand.U32(256), sums)
	DECQ(param("positions"))
	JNE(operand.LabelRef("position"))
	LDMXCSR(before)
	VZEROUPPER()
	RET()
}
