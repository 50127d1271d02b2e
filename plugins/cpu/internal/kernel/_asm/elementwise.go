package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// elementwise writes loops over contiguous elements. Their count is a multiple of the
// lanes.
func elementwise() {
	for _, set := range []isa{avx512, avx2} {
		each(set, "relu", []string{"y", "x"}, func(v, zero reg.VecPhysical, p []reg.GPPhysical) {
			VMAXPS(operand.Mem{Base: p[1]}, zero, v)
		})
		each(set, "relu6", []string{"y", "x"}, func(v, zero reg.VecPhysical, p []reg.GPPhysical) {
			VMAXPS(operand.Mem{Base: p[1]}, zero, v)
			VMINPS(v, set.regs[2], v)
		})
		each(set, "add", []string{"y", "a", "b"}, func(v, _ reg.VecPhysical, p []reg.GPPhysical) {
			VMOVUPS(operand.Mem{Base: p[1]}, v)
			VADDPS(operand.Mem{Base: p[2]}, v, v)
		})
		each(set, "relu6Gradient", []string{"dx", "y", "dy"}, func(v, zero reg.VecPhysical, p []reg.GPPhysical) {
			VMOVUPS(operand.Mem{Base: p[1]}, v)
			if set.bytes == 64 {
				VCMPPS(operand.Imm(greater), zero, v, reg.K1)
				VCMPPS(operand.Imm(less), set.regs[2], v, reg.K1, reg.K1)
				VMOVUPS_Z(operand.Mem{Base: p[2]}, reg.K1, v)
				return
			}
			VCMPPS(operand.Imm(greater), zero, v, set.regs[3])
			VCMPPS(operand.Imm(less), set.regs[2], v, v)
			VANDPS(set.regs[3], v, v)
			VANDPS(operand.Mem{Base: p[2]}, v, v)
		})
		each(set, "reluGradient", []string{"dx", "y", "dy"}, func(v, zero reg.VecPhysical, p []reg.GPPhysical) {
			VMOVUPS(operand.Mem{Base: p[1]}, v)
			if set.bytes == 64 {
				VCMPPS(operand.Imm(greater), zero, v, reg.K1)
				VMOVUPS_Z(operand.Mem{Base: p[2]}, reg.K1, v)
			} else {
				VCMPPS(operand.Imm(greater), zero, v, v)
				VANDPS(operand.Mem{Base: p[2]}, v, v)
			}
		})
		sgd(set)
	}
}

// These are the predicates "first > second" and "first < second". They are false for NaN, and raise no
// exception.
const (
	greater = 0x1e
	less    = 0x11
)

// six broadcasts 6 to register 2.
func six(set isa) {
	MOVL(operand.U32(0x40c00000), reg.EAX)
	MOVD(reg.EAX, reg.X2)
	VBROADCASTSS(reg.X2, set.regs[2])
}

// each writes a function with a loop. body writes code that computes v, and the loop stores v at the first
// pointer.
func each(set isa, name string, params []string, body func(v, zero reg.VecPhysical, p []reg.GPPhysical)) {
	signature := ""
	for _, p := range params {
		signature += p + " *float32, "
	}
	TEXT(name+set.name, NOSPLIT, fmt.Sprintf("func(%scount int)", signature))
	Pragma("noescape")
	if strings.HasPrefix(name, "relu6") {
		six(set)
	}
	for i, p := range params {
		MOVQ(param(p), pointers[i])
	}
	count := pointers[len(params)]
	MOVQ(param("count"), count)
	set.clear(1)
	Label("some")
	CMPQ(count, operand.Imm(uint64(set.bytes/4)))
	JLT(operand.LabelRef("done"))
	body(set.regs[1], set.regs[0], pointers)
	VMOVUPS(set.regs[1], operand.Mem{Base: pointers[0]})
	for i := range params {
		ADDQ(operand.Imm(uint64(set.bytes)), pointers[i])
	}
	SUBQ(operand.Imm(uint64(set.bytes/4)), count)
	JMP(operand.LabelRef("some"))
	Label("done")
	VZEROUPPER()
	RET()
}
