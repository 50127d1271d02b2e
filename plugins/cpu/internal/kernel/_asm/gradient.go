package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gradient writes the tiles of Gradient: m inputs by n*16 channels.
func gradient() {
	for _, m := range []int{16, 8, 4, 2, 1} {
		gradientTile(avx512, 1, m)
	}
	for _, m := range []int{12, 8, 4, 2, 1} {
		gradientTile(avx512, 2, m)
	}
	for _, m := range []int{6, 4, 2, 1} {
		gradientTile(avx512, 4, m)
	}
	for _, m := range []int{6, 4, 2, 1} {
		gradientTile(avx2, 1, m)
	}
	staged()
	denseGradient()
}

// gradientTile writes one tile. Every element of sum continues as one chain
// of fused multiply-adds over the positions.
func gradientTile(set isa, n, m int) {
	TEXT(fmt.Sprintf("gradient%sx%dm%d", set.name, n, m), NOSPLIT,
		"func(sum *float32, sumStep int, in *float32, zero int, offs *int32, "+
			"grad *float32, grads *int32, count int)")
	Pragma("noescape")
	width := n * set.vectors()
	sum, step, offs, grad, grads, count, x, g := pointers[0], pointers[1], pointers[2], pointers[3],
		pointers[4], pointers[5], pointers[6], pointers[7]
	in, zero := pointers[8], pointers[9]
	MOVQ(param("sum"), sum)
	MOVQ(param("sumStep"), step)
	MOVQ(param("in"), in)
	MOVQ(param("zero"), zero)
	MOVQ(param("offs"), offs)
	MOVQ(param("grad"), grad)
	MOVQ(param("grads"), grads)
	MOVQ(param("count"), count)
	MOVQ(sum, x)
	for i := range m {
		for v := range width {
			VMOVUPS(operand.Mem{Base: x, Disp: set.bytes * v}, set.regs[i*width+v])
		}
		ADDQ(step, x)
	}

	TESTQ(count, count)
	JE(operand.LabelRef("store"))
	Label("position")
	MOVLQSX(operand.Mem{Base: offs}, x)
	TESTQ(x, x)
	CMOVQLT(zero, x)
	ADDQ(in, x)
	MOVLQSX(operand.Mem{Base: grads}, g)
	ADDQ(grad, g)
	values := set.regs[m*width : m*width+width]
	spare := set.regs[m*width+width:]
	for v := range width {
		VMOVUPS(operand.Mem{Base: g, Disp: set.bytes * v}, values[v])
	}
	for i := range m {
		if width == 1 {
			VFMADD231PS_BCST(operand.Mem{Base: x, Disp: 4 * i}, values[0], set.regs[i])
			continue
		}
		b := spare[i%min(len(spare), 4)]
		VBROADCASTSS(operand.Mem{Base: x, Disp: 4 * i}, b)
		for v := range width {
			VFMADD231PS(values[v], b, set.regs[i*width+v])
		}
	}
	ADDQ(operand.Imm(4), offs)
	ADDQ(operand.Imm(4), grads)
	DECQ(count)
	JNE(operand.LabelRef("position"))

	Label("store")
	for i := range m {
		for v := range width {
			VMOVUPS(set.regs[i*width+v], operand.Mem{Base: sum, Disp: set.bytes * v})
		}
		ADDQ(step, sum)
	}
	VZEROUPPER()
	RET()
}

// staged writes the functions that copy operands of Gradient to contiguous memory, and the functions that
// multiply the copies.
func staged() {
	stageValues(avx2)
	stageChannels(avx2)
	for _, m := range []int{6, 5, 4, 3, 2, 1} {
		stagedTile(avx2, m)
	}
}

// stagedValues is the number of values of a run that are stored together, in a vector of 8.
const stagedValues = 6

// stageValues copies the values of runs at count positions into tiles: 6 values of a run become a vector at
// each position. In the last tile, the second mask selects the values that there are.
func stageValues(set isa) {
	TEXT("stageValues"+set.name, NOSPLIT,
		"func(dst *float32, dstStep int, in *float32, zero int, offs *int32, masks *int32, tiles int, count int)")
	Pragma("noescape")
	dst, step, in, zero, offs, tiles, x, to, left := pointers[0], pointers[1], pointers[2], pointers[3],
		pointers[4], pointers[5], pointers[6], pointers[7], pointers[8]
	all, last, v := set.regs[0], set.regs[1], set.regs[2]
	MOVQ(param("masks"), x)
	VMOVUPS(operand.Mem{Base: x}, all)
	VMOVUPS(operand.Mem{Base: x, Disp: set.bytes}, last)
	MOVQ(param("dst"), dst)
	MOVQ(param("dstStep"), step)
	MOVQ(param("in"), in)
	MOVQ(param("zero"), zero)
	MOVQ(param("offs"), offs)
	MOVQ(param("tiles"), tiles)
	DECQ(tiles)
	Label("position")
	MOVLQSX(operand.Mem{Base: offs}, x)
	TESTQ(x, x)
	CMOVQLT(zero, x)
	ADDQ(in, x)
	MOVQ(dst, to)
	MOVQ(tiles, left)
	TESTQ(left, left)
	JE(operand.LabelRef("last"))
	Label("tile")
	VMASKMOVPS(operand.Mem{Base: x}, all, v)
	VMOVUPS(v, operand.Mem{Base: to})
	ADDQ(operand.Imm(4*stagedValues), x)
	ADDQ(step, to)
	DECQ(left)
	JNE(operand.LabelRef("tile"))
	Label("last")
	VMASKMOVPS(operand.Mem{Base: x}, last, v)
	VMOVUPS(v, operand.Mem{Base: to})
	ADDQ(operand.Imm(4), offs)
	ADDQ(operand.Imm(uint64(set.bytes)), dst)
	DECQ(param("count"))
	JNE(operand.LabelRef("position"))
	VZEROUPPER()
	RET()
}

// stageChannels copies 16 channels of count positions to contiguous memory, and repeats this for all
// columns.
func stageChannels(set isa) {
	TEXT("stageChannels"+set.name, NOSPLIT,
		"func(dst *float32, dstStep int, grad *float32, grads *int32, columns int, count int)")
	Pragma("noescape")
	dst, step, grad, grads, x := pointers[0], pointers[1], pointers[2], pointers[3], pointers[4]
	to, left, count := pointers[5], pointers[6], pointers[7]
	width := set.vectors()
	MOVQ(param("dst"), dst)
	MOVQ(param("dstStep"), step)
	MOVQ(param("grad"), grad)
	MOVQ(param("grads"), grads)
	MOVQ(param("count"), count)
	Label("position")
	MOVLQSX(operand.Mem{Base: grads}, x)
	ADDQ(grad, x)
	MOVQ(dst, to)
	MOVQ(param("columns"), left)
	Label("column")
	for v := range width {
		VMOVUPS(operand.Mem{Base: x, Disp: set.bytes * v}, set.regs[v])
	}
	for v := range width {
		VMOVUPS(set.regs[v], operand.Mem{Base: to, Disp: set.bytes * v})
	}
	ADDQ(operand.Imm(uint64(set.bytes*width)), x)
	ADDQ(step, to)
	DECQ(left)
	JNE(operand.LabelRef("column"))
	ADDQ(operand.Imm(4), grads)
	ADDQ(operand.Imm(uint64(set.bytes*width)), dst)
	DECQ(count)
	JNE(operand.LabelRef("position"))
	VZEROUPPER()
	RET()
}

// stagedUnroll is the number of positions that one turn of the loop processes.
const stagedUnroll = 4

// stagedTile writes consecutive tiles of m values by 16 channels. Every element of sum
// continues as one chain of fused multiply-adds over the positions.
func stagedTile(set isa, m int) {
	TEXT(fmt.Sprintf("staged%sm%d", set.name, m), NOSPLIT,
		"func(sum *float32, sumStep int, x *float32, xStep int, grad *float32, count int, tiles int)")
	Pragma("noescape")
	width := set.vectors()
	sum, step, x, g, count, at, from, tiles := pointers[0], pointers[1], pointers[2], pointers[3], pointers[4],
		pointers[5], pointers[6], pointers[7]
	MOVQ(param("sum"), sum)
	MOVQ(param("sumStep"), step)
	MOVQ(param("x"), from)
	MOVQ(param("tiles"), tiles)
	Label("tile")
	MOVQ(sum, at)
	for i := range m {
		for v := range width {
			VMOVUPS(operand.Mem{Base: at, Disp: set.bytes * v}, set.regs[i*width+v])
		}
		ADDQ(step, at)
	}
	MOVQ(from, x)
	MOVQ(param("grad"), g)
	MOVQ(param("count"), count)
	SUBQ(operand.Imm(stagedUnroll), count)
	JL(operand.LabelRef("rest"))
	Label("some")
	for j := range stagedUnroll {
		stagedStep(set, m, j, x, g)
	}
	ADDQ(operand.Imm(uint64(set.bytes*stagedUnroll)), x)
	ADDQ(operand.U32(uint32(set.bytes*width*stagedUnroll)), g)
	SUBQ(operand.Imm(stagedUnroll), count)
	JGE(operand.LabelRef("some"))
	Label("rest")
	ADDQ(operand.Imm(stagedUnroll), count)
	JE(operand.LabelRef("store"))
	Label("one")
	stagedStep(set, m, 0, x, g)
	ADDQ(operand.Imm(uint64(set.bytes)), x)
	ADDQ(operand.Imm(uint64(set.bytes*width)), g)
	DECQ(count)
	JNE(operand.LabelRef("one"))
	Label("store")
	for i := range m {
		for v := range width {
			VMOVUPS(set.regs[i*width+v], operand.Mem{Base: sum, Disp: set.bytes * v})
		}
		ADDQ(step, sum)
	}
	ADDQ(param("xStep"), from)
	DECQ(tiles)
	JNE(operand.LabelRef("tile"))
	VZEROUPPER()
	RET()
}

// stagedStep multiplies the values of position j by the gradients of the channels at that position.
func stagedStep(set isa, m, j int, x, g reg.GPPhysical) {
	width := set.vectors()
	values, spare := set.regs[m*width:][:width], set.regs[m*width+width:]
	for v := range width {
		VMOVUPS(operand.Mem{Base: g, Disp: set.bytes * (width*j + v)}, values[v])
	}
	for i := range m {
		b := spare[i%min(len(spare), 4)]
		VBROADCASTSS(operand.Mem{Base: x, Disp: set.bytes*j + 4*i}, b)
		for v := range width {
			VFMADD231PS(values[v], b, set.regs[i*width+v])
		}
	}
}
