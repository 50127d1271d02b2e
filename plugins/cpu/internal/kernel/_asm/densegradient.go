package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// denseGradient writes the tiles of DenseGradient: m inputs by the 64 channels of a panel, in a loop over
// tiles.
func denseGradient() {
	for _, m := range []int{6, 4, 2, 1} {
		denseGradientTile(avx512, m)
	}
}

// denseGradientTile writes one tile. Every element is one chain of fused multiply-adds over
// the rows, from +0. If add is not 0, the element's old value is added to it at the end.
func denseGradientTile(set isa, m int) {
	TEXT(fmt.Sprintf("denseGradient%sm%d", set.name, m), NOSPLIT,
		"func(sum *float32, in *float32, inStep int, grad *float32, gradStep int, rows int, tiles int, add int)")
	Pragma("noescape")
	const width = 4
	sum, in, inStep, grad, gradStep, tiles := pointers[0], pointers[1], pointers[2], pointers[3], pointers[4],
		pointers[5]
	add, x, g, left := pointers[6], pointers[7], pointers[8], pointers[9]
	MOVQ(param("sum"), sum)
	MOVQ(param("in"), in)
	MOVQ(param("inStep"), inStep)
	MOVQ(param("grad"), grad)
	MOVQ(param("gradStep"), gradStep)
	MOVQ(param("tiles"), tiles)
	MOVQ(param("add"), add)
	all, values, spare := set.regs[:m*width], set.regs[m*width:][:width], set.regs[m*width+width:]
	Label("tile")
	set.clear(len(all))
	MOVQ(in, x)
	MOVQ(grad, g)
	MOVQ(param("rows"), left)
	Label("row")
	for v, r := range values {
		VMOVUPS(operand.Mem{Base: g, Disp: set.bytes * v}, r)
	}
	for i := range m {
		b := spare[i%min(len(spare), 4)]
		VBROADCASTSS(operand.Mem{Base: x, Disp: 4 * i}, b)
		for v, r := range values {
			VFMADD231PS(r, b, all[i*width+v])
		}
	}
	ADDQ(inStep, x)
	ADDQ(gradStep, g)
	DECQ(left)
	JNE(operand.LabelRef("row"))
	TESTQ(add, add)
	JE(operand.LabelRef("store"))
	for i, r := range all {
		VADDPS(operand.Mem{Base: sum, Disp: set.bytes * i}, r, r)
	}
	Label("store")
	for i, r := range all {
		VMOVUPS(r, operand.Mem{Base: sum, Disp: set.bytes * i})
	}
	ADDQ(operand.U32(len(all)*set.bytes), sum)
	ADDQ(operand.Imm(uint64(4*m)), in)
	DECQ(tiles)
	JNE(operand.LabelRef("tile"))
	VZEROUPPER()
	RET()
}
