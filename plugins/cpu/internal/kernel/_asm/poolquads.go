package main

import (
	"slices"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// equal is the predicate "first = second". It is false for NaN, and raises no exception.
const equal = 0x00

// maxPoolQuads writes the gradient of windows of four pixels without overlap, for channels that fill whole
// vectors. The function sets the gradients of all pixels of a window. It stops before a window that has a
// NaN, and returns the number of windows that are left.
func maxPoolQuads(set isa) {
	TEXT("maxPoolQuads"+set.name, NOSPLIT,
		"func(dx *float32, x *float32, dy *float32, pixels *int32, windows int, channels int) int")
	Pragma("noescape")
	dx, x, dy, pixels, windows, left := pointers[0], pointers[1], pointers[2], pointers[3], pointers[4],
		pointers[5]
	at := pointers[6:10]
	MOVQ(param("dx"), dx)
	MOVQ(param("x"), x)
	MOVQ(param("dy"), dy)
	MOVQ(param("pixels"), pixels)
	MOVQ(param("windows"), windows)
	v, zero := set.regs[:4], set.regs[4]
	set.zero(zero)
	Label("window")
	for i, p := range at {
		MOVLQSX(operand.Mem{Base: pixels, Disp: 4 * i}, p)
	}
	MOVQ(param("channels"), left)
	Label("vector")
	for i, p := range at {
		VMOVUPS(operand.Mem{Base: x, Index: p, Scale: 1}, v[i])
	}
	if set.bytes == 64 {
		quad512(set, v)
	} else {
		quad256(set, v)
	}
	for i, p := range at {
		VMOVUPS(v[i], operand.Mem{Base: dx, Index: p, Scale: 1})
	}
	for _, p := range slices.Concat(at, []reg.GPPhysical{dy}) {
		ADDQ(operand.Imm(uint64(set.bytes)), p)
	}
	SUBQ(operand.Imm(uint64(set.bytes/4)), left)
	JNE(operand.LabelRef("vector"))
	ADDQ(operand.Imm(16), pixels)
	DECQ(windows)
	JNE(operand.LabelRef("window"))
	Label("nan")
	Store(windows, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// quad512 writes the code that replaces four pixels by their gradients. The code jumps to "nan" if a
// pixel is NaN. The gradient of the window becomes +0 if it is -0, as if it were added to +0.
func quad512(set isa, v []reg.VecPhysical) {
	zero, most, g, t := set.regs[4], set.regs[5], set.regs[6], set.regs[7]
	VCMPPS(operand.Imm(unordered), v[0], v[1], reg.K1)
	VCMPPS(operand.Imm(unordered), v[2], v[3], reg.K2)
	KORTESTW(reg.K1, reg.K2)
	JNE(operand.LabelRef("nan"))
	VADDPS(operand.Mem{Base: pointers[2]}, zero, g)
	VMAXPS(v[0], v[1], most)
	VMAXPS(v[2], v[3], t)
	VMAXPS(t, most, most)
	VCMPPS(operand.Imm(equal), v[0], most, reg.K1)
	KNOTW(reg.K1, reg.K4)
	VCMPPS(operand.Imm(equal), v[1], most, reg.K4, reg.K2)
	KANDNW(reg.K4, reg.K2, reg.K4)
	VCMPPS(operand.Imm(equal), v[2], most, reg.K4, reg.K3)
	KANDNW(reg.K4, reg.K3, reg.K4)
	for i, k := range []reg.OpmaskPhysical{reg.K1, reg.K2, reg.K3, reg.K4} {
		VMOVAPS_Z(g, k, v[i])
	}
}

// quad256 writes the same code as quad512 for 256-bit registers.
func quad256(set isa, v []reg.VecPhysical) {
	zero, most, g, t := set.regs[4], set.regs[5], set.regs[6], set.regs[7]
	VCMPPS(operand.Imm(unordered), v[0], v[1], most)
	VCMPPS(operand.Imm(unordered), v[2], v[3], t)
	VORPS(t, most, most)
	VMOVMSKPS(most, pointers[10].As32())
	TESTL(pointers[10].As32(), pointers[10].As32())
	JNE(operand.LabelRef("nan"))
	VADDPS(operand.Mem{Base: pointers[2]}, zero, g)
	VMAXPS(v[0], v[1], most)
	VMAXPS(v[2], v[3], t)
	VMAXPS(t, most, most)
	for _, r := range v[:3] {
		VCMPPS(operand.Imm(equal), r, most, r)
	}
	VANDNPS(v[1], v[0], v[1])
	VORPS(v[1], v[0], t)
	VANDNPS(v[2], t, v[2])
	VORPS(v[2], t, t)
	for _, r := range v[:3] {
		VANDPS(g, r, r)
	}
	VANDNPS(g, t, v[3])
}
