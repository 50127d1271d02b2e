package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pairsgradient writes what PairsGradient and InterleaveBF16 are made of.
func pairsgradient() {
	native := rounding{isa: avx512, name: "AVX512BF16", native: true}
	plain := rounding{isa: avx512, name: "AVX512", scratch: zmm[31:32]}
	narrow := rounding{isa: avx2, name: "AVX2", scratch: ymm[15:16]}
	for _, r := range []rounding{native, plain} {
		for n, values := range [][]int{1: {16, 8, 4, 2, 1}, 2: {12, 8, 4, 2, 1}, 4: {6, 4, 2, 1}} {
			for _, m := range values {
				(&pairsTiler{r, n, m}).gradient()
			}
		}
	}
	for _, m := range []int{6, 4, 2, 1} {
		(&pairsTiler{narrow, 1, m}).gradient()
	}
	interleave(avx512)
	interleave(avx2)
}

// gradient writes a tile of p values by n*16 channels. Every element of sum
// continues as one chain over the pairs.
func (t *pairsTiler) gradient() {
	TEXT(fmt.Sprintf("pairsGradient%sx%dm%d", t.name, t.n, t.p), NOSPLIT,
		"func(sum *float32, sumStep int, x *uint16, xStep int, grad *uint16, gradStep int, pairs int)")
	Pragma("noescape")
	width, accs := t.width(), t.p*t.width()
	sum, step, x, xStep, grad, gradStep, left := pointers[0], pointers[1], pointers[2], pointers[3], pointers[4],
		pointers[5], pointers[6]
	restore := flushSubnormals(left)
	MOVQ(param("sum"), sum)
	MOVQ(param("sumStep"), step)
	MOVQ(param("x"), x)
	MOVQ(param("xStep"), xStep)
	MOVQ(param("grad"), grad)
	MOVQ(param("gradStep"), gradStep)
	if !t.native {
		t.upper(t.scratch[0])
	}
	MOVQ(sum, left)
	for i := range t.p {
		for v := range width {
			VMOVUPS(operand.Mem{Base: left, Disp: t.bytes * v}, t.regs[i*width+v])
		}
		ADDQ(step, left)
	}
	MOVQ(param("pairs"), left)

	Label("pair")
	t.products(accs, func(i int) operand.Mem { return operand.Mem{Base: x, Disp: 4 * i} },
		func(v int) operand.Mem { return operand.Mem{Base: grad, Disp: t.bytes * v} })
	ADDQ(xStep, x)
	ADDQ(gradStep, grad)
	DECQ(left)
	JNE(operand.LabelRef("pair"))

	for i := range t.p {
		for v := range width {
			VMOVUPS(t.regs[i*width+v], operand.Mem{Base: sum, Disp: t.bytes * v})
		}
		ADDQ(step, sum)
	}
	restore()
	VZEROUPPER()
	RET()
}

// interleave writes a loop over pairs of positions, whose runs fill whole vectors.
func interleave(set isa) {
	TEXT("interleave"+set.name, NOSPLIT,
		"func(dst *uint16, in *float32, zero int, offs *int32, pairs int, lanes int)")
	Pragma("noescape")
	dst, in, zero, offs, pairs, lanes, first, second, k := pointers[0], pointers[1], pointers[2], pointers[3],
		pointers[4], pointers[5], pointers[6], pointers[7], pointers[8]
	MOVQ(param("dst"), dst)
	MOVQ(param("in"), in)
	MOVQ(param("zero"), zero)
	MOVQ(param("offs"), offs)
	MOVQ(param("pairs"), pairs)
	MOVQ(param("lanes"), lanes)
	SHLQ(operand.Imm(2), lanes)
	Label("pair")
	for i, p := range []reg.GPPhysical{first, second} {
		MOVLQSX(operand.Mem{Base: offs, Disp: 4 * i}, p)
		TESTQ(p, p)
		CMOVQLT(zero, p)
		ADDQ(in, p)
	}
	XORQ(k, k)
	Label("some")
	v := set.regs[0]
	VMOVUPS(operand.Mem{Base: first, Index: k, Scale: 1}, v)
	VPSRLD(operand.Imm(16), v, v)
	if set.bytes == 64 {
		VPORD(operand.Mem{Base: second, Index: k, Scale: 1}, v, v)
	} else {
		VPOR(operand.Mem{Base: second, Index: k, Scale: 1}, v, v)
	}
	VMOVUPS(v, operand.Mem{Base: dst, Index: k, Scale: 1})
	ADDQ(operand.Imm(uint64(set.bytes)), k)
	CMPQ(k, lanes)
	JLT(operand.LabelRef("some"))
	ADDQ(lanes, dst)
	ADDQ(operand.Imm(8), offs)
	DECQ(pairs)
	JNE(operand.LabelRef("pair"))
	VZEROUPPER()
	RET()
}
