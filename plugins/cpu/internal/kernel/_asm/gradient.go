package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
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
