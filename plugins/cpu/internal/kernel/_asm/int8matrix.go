package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// int8Matrices writes the functions of Int8 for matrix units.
func int8Matrices() {
	shapes := tileShapes()
	for _, m := range []int{1, 2} {
		for _, n := range []int{1, 2} {
			int8Matrix(shapes, m, n)
		}
	}
	int8Stage()
}

// int8Matrix writes the sums of m tiles of positions by n of channels. Tiles hold data only within the
// function, which cannot be preempted.
func int8Matrix(shapes operand.Mem, m, n int) {
	TEXT(fmt.Sprintf("int8Matrix%dx%d", m, n), NOSPLIT,
		"func(sums *int32, a *byte, line int, w *int8, wide int, steps int, start *int32, times int)")
	Pragma("noescape")
	a, w, sums, left := [2]reg.GPPhysical{reg.RSI, reg.R11}, reg.RDI, reg.RDX, reg.RCX
	line, wide, row, none := reg.RBX, reg.R9, reg.R8, reg.R10
	LEAQ(shapes, reg.RAX)
	ldtilecfg(reg.RAX)
	MOVQ(param("sums"), sums)
	MOVQ(param("line"), line)
	MOVQ(param("wide"), wide)
	MOVQ(operand.U32(sumBytes), row)
	XORQ(none, none)
	Label("channels")
	Comment("every row begins with the same sums")
	MOVQ(param("start"), reg.RAX)
	for i := range m {
		for j := range n {
			tileloadd(i*n+j, reg.RAX, none, 64*j)
		}
	}
	ADDQ(operand.Imm(uint64(64*n)), param("start"))
	MOVQ(param("a"), a[0])
	if m > 1 {
		MOVQ(line, a[1])
		SHLQ(operand.Imm(4), a[1])
		ADDQ(a[0], a[1])
	}
	MOVQ(param("w"), w)
	MOVQ(param("steps"), left)
	TESTQ(left, left)
	JE(operand.LabelRef("store"))
	Label("step")
	for i := range m {
		tileloadd(tilePosition+i, a[i], line, 0)
	}
	for j := range n {
		tileloadd(tileChannel+j, w, wide, 64*j)
	}
	for i := range m {
		for j := range n {
			tdpbusd(i*n+j, tilePosition+i, tileChannel+j)
		}
	}
	for i := range m {
		ADDQ(operand.Imm(64), a[i])
	}
	MOVQ(wide, reg.RAX)
	SHLQ(operand.Imm(4), reg.RAX)
	ADDQ(reg.RAX, w)
	DECQ(left)
	JNE(operand.LabelRef("step"))
	Label("store")
	for i := range m {
		for j := range n {
			tilestored(i*n+j, sums, row, 16*sumBytes*i+64*j)
		}
	}
	ADDQ(operand.Imm(uint64(64*n)), sums)
	ADDQ(operand.Imm(uint64(64*n)), param("w"))
	DECQ(param("times"))
	JNE(operand.LabelRef("channels"))
	tilerelease()
	RET()
}

// tdpbusd multiplies the unsigned bytes of tile a by the signed bytes of tile b and adds the
// products to tile dst.
func tdpbusd(dst, a, b int) {
	emit(vexTile(1, 0x5E, dst, a, b), "TDPBUSD TMM%d, TMM%d, TMM%d", b, a, dst)
}

// int8Stage writes the copy of runs of positions to adjacent memory, in whole vectors. The
// bytes copied past the end of a run are overwritten by the next run, or multiplied with
// zeros.
func int8Stage() {
	TEXT("int8Stage", NOSPLIT, "func(staged *byte, in *byte, pad int, offs *int32, offStep int, taps int, "+
		"run int, pitch int, positions int)")
	Pragma("noescape")
	from, to, offs, tap := pointers[0], pointers[1], pointers[2], pointers[3]
	left, next, run, step := pointers[4], pointers[5], pointers[6], pointers[7]
	in, pad := pointers[8], pointers[9]
	MOVQ(param("run"), run)
	MOVQ(param("offStep"), step)
	MOVQ(param("in"), in)
	MOVQ(param("pad"), pad)
	Label("position")
	MOVQ(param("staged"), to)
	MOVQ(param("offs"), offs)
	MOVQ(param("taps"), tap)
	Label("tap")
	MOVLQSX(operand.Mem{Base: offs}, from)
	ADDQ(step, offs)
	TESTQ(from, from)
	CMOVQLT(pad, from)
	ADDQ(in, from)
	LEAQ(operand.Mem{Base: to, Index: run, Scale: 1}, next)
	MOVQ(run, left)
	Label("line")
	VMOVDQU32(operand.Mem{Base: from}, zmm[0])
	VMOVDQU32(zmm[0], operand.Mem{Base: to})
	ADDQ(operand.Imm(64), from)
	ADDQ(operand.Imm(64), to)
	SUBQ(operand.Imm(64), left)
	JG(operand.LabelRef("line"))
	MOVQ(next, to)
	DECQ(tap)
	JNE(operand.LabelRef("tap"))
	MOVQ(param("staged"), to)
	ADDQ(param("pitch"), to)
	MOVQ(to, param("staged"))
	ADDQ(operand.Imm(4), param("offs"))
	DECQ(param("positions"))
	JNE(operand.LabelRef("position"))
	VZEROUPPER()
	RET()
}
