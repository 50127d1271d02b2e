package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// depthwise writes tiles of p positions by v vectors of channels, and the
// gradients of some taps for v vectors of channels.
func depthwise() {
	for _, v := range []int{4, 2, 1} {
		for _, p := range []int{4, 1} {
			depthwiseTile(avx512, v, p)
		}
		for _, taps := range []int{5, 3, 1} {
			depthwiseGradient(avx512, v, taps)
		}
	}
	for _, v := range []int{4, 2, 1} {
		for _, p := range []int{2, 1} {
			depthwiseTile(avx2, v, p)
		}
		for _, taps := range []int{5, 3, 1} {
			if v < 4 {
				depthwiseGradient(avx2, v, taps)
			}
		}
	}
}

// depthwiseTile writes one tile. Every element is one chain of fused
// multiply-adds over the taps.
func depthwiseTile(set isa, v, p int) {
	TEXT(fmt.Sprintf("depthwise%sx%dp%d", set.name, v, p), NOSPLIT,
		"func(out *float32, outs *int32, in *float32, zero int, offs *int32, offStep int, "+
			"taps int, w *float32, wStep int, bias *float32, "+epilogueParams+")")
	Pragma("noescape")
	x := pointers[:p]
	offs, step, in, zero := pointers[p], pointers[p+1], pointers[p+2], pointers[p+3]
	left, w := pointers[p+4], pointers[p+5]
	MOVQ(param("offs"), offs)
	MOVQ(param("offStep"), step)
	MOVQ(param("in"), in)
	MOVQ(param("zero"), zero)
	MOVQ(param("taps"), left)
	MOVQ(param("w"), w)
	set.clear(p * v)
	weights := set.regs[p*v : p*v+v]
	TESTQ(left, left)
	JE(operand.LabelRef("store"))
	Label("tap")
	for i := range p {
		MOVLQSX(operand.Mem{Base: offs, Disp: 4 * i}, x[i])
		TESTQ(x[i], x[i])
		CMOVQLT(zero, x[i])
		ADDQ(in, x[i])
	}
	for k := range v {
		VMOVUPS(operand.Mem{Base: w, Disp: set.bytes * k}, weights[k])
	}
	for i := range p {
		for k := range v {
			VFMADD231PS(operand.Mem{Base: x[i], Disp: set.bytes * k}, weights[k], set.regs[i*v+k])
		}
	}
	ADDQ(step, offs)
	ADDQ(param("wStep"), w)
	DECQ(left)
	JNE(operand.LabelRef("tap"))
	Label("store")
	MOVQ(param("bias"), w)
	TESTQ(w, w)
	JE(operand.LabelRef("plus"))
	for r := range p * v {
		VADDPS(operand.Mem{Base: w, Disp: set.bytes * (r % v)}, set.regs[r], set.regs[r])
	}
	Label("plus")
	MOVQ(param("outs"), offs)
	// each calls do for the register of every result, with the address of the result relative to base.
	each := func(base string, do func(r reg.VecPhysical, at operand.Mem)) {
		for i := range p {
			MOVLQSX(operand.Mem{Base: offs, Disp: 4 * i}, w)
			ADDQ(param(base), w)
			for k := range v {
				do(set.regs[i*v+k], operand.Mem{Base: w, Disp: set.bytes * k})
			}
		}
	}
	set.epilogue(set.regs[:p*v], set.regs[p*v:], w, func() {
		each("plus", func(r reg.VecPhysical, at operand.Mem) { VADDPS(at, r, r) })
	})
	each("out", func(r reg.VecPhysical, at operand.Mem) { VMOVUPS(r, at) })
	VZEROUPPER()
	RET()
}

// depthwiseGradient continues the sums of some taps over count positions. The offsets of two taps are
// offStep bytes apart in their table. The gradient at a position is read once for all taps.
func depthwiseGradient(set isa, v, taps int) {
	TEXT(fmt.Sprintf("depthwiseGradient%sx%dt%d", set.name, v, taps), NOSPLIT,
		"func(sum *float32, sumStep int, in *float32, zero int, offs *int32, offStep int, grad *float32, "+
			"grads *int32, count int)")
	Pragma("noescape")
	sum, in, zero, offs, grad, grads, count, x, g := pointers[0], pointers[1], pointers[2], pointers[3],
		pointers[4], pointers[5], pointers[6], pointers[7], pointers[8]
	step, thrice := pointers[9], pointers[10]
	MOVQ(param("sum"), sum)
	MOVQ(param("in"), in)
	MOVQ(param("zero"), zero)
	MOVQ(param("offs"), offs)
	MOVQ(param("offStep"), step)
	MOVQ(param("grad"), grad)
	MOVQ(param("grads"), grads)
	MOVQ(param("count"), count)
	LEAQ(operand.Mem{Base: step, Index: step, Scale: 2}, thrice)
	sums, values := set.regs[:taps*v], set.regs[taps*v:]
	// each calls do for the register of every sum of every tap, with its address.
	each := func(do func(r reg.VecPhysical, at operand.Mem)) {
		MOVQ(sum, x)
		for t := range taps {
			for k := range v {
				do(sums[t*v+k], operand.Mem{Base: x, Disp: set.bytes * k})
			}
			if t < taps-1 {
				ADDQ(param("sumStep"), x)
			}
		}
	}
	offset := []operand.Mem{{Base: offs}, {Base: offs, Index: step, Scale: 1},
		{Base: offs, Index: step, Scale: 2}, {Base: offs, Index: thrice, Scale: 1},
		{Base: offs, Index: step, Scale: 4}}
	each(func(r reg.VecPhysical, at operand.Mem) { VMOVUPS(at, r) })
	TESTQ(count, count)
	JE(operand.LabelRef("store"))
	Label("position")
	MOVLQSX(operand.Mem{Base: grads}, g)
	ADDQ(grad, g)
	for k := range v {
		VMOVUPS(operand.Mem{Base: g, Disp: set.bytes * k}, values[k])
	}
	for t := range taps {
		MOVLQSX(offset[t], x)
		TESTQ(x, x)
		CMOVQLT(zero, x)
		ADDQ(in, x)
		for k := range v {
			VFMADD231PS(operand.Mem{Base: x, Disp: set.bytes * k}, values[k], sums[t*v+k])
		}
	}
	ADDQ(operand.Imm(4), offs)
	ADDQ(operand.Imm(4), grads)
	DECQ(count)
	JNE(operand.LabelRef("position"))
	Label("store")
	each(func(r reg.VecPhysical, at operand.Mem) { VMOVUPS(r, at) })
	VZEROUPPER()
	RET()
}
