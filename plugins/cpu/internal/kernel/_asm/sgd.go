package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sgd writes the steps of SGD over contiguous weights, with or without weight decay, with
// or without Nesterov's momentum. The count of weights is a multiple of the lanes.
func sgd(set isa) {
	for _, decay := range []string{"", "Decay"} {
		for _, nesterov := range []string{"", "Nesterov"} {
			sgdStep(set, "sgd"+decay+nesterov, decay != "", nesterov != "")
		}
	}
}

func sgdStep(set isa, name string, decays, nesterov bool) {
	TEXT(name+set.name, NOSPLIT,
		"func(w1, v1, w, dw, v *float32, momentum, decay, rate float32, count int)")
	Pragma("noescape")
	for i, p := range []string{"w1", "v1", "w", "dw", "v"} {
		MOVQ(param(p), pointers[i])
	}
	w1, v1, w, g, v, count := pointers[0], pointers[1], pointers[2], pointers[3], pointers[4], pointers[5]
	MOVQ(param("count"), count)
	momentum, decay, rate := set.regs[0], set.regs[1], set.regs[2]
	VBROADCASTSS(param("momentum"), momentum)
	VBROADCASTSS(param("decay"), decay)
	VBROADCASTSS(param("rate"), rate)
	weight, d, next, u := set.regs[3], set.regs[4], set.regs[5], set.regs[6]
	Label("some")
	VMOVUPS(operand.Mem{Base: w}, weight)
	VMOVUPS(operand.Mem{Base: g}, d)
	if decays {
		VMULPS(weight, decay, u)
		VADDPS(u, d, d)
	}
	VMULPS(operand.Mem{Base: v}, momentum, next)
	VADDPS(d, next, next)
	VMOVUPS(next, operand.Mem{Base: v1})
	if nesterov {
		VMULPS(next, momentum, u)
		VADDPS(u, d, next)
	}
	VMULPS(next, rate, u)
	VSUBPS(u, weight, weight)
	VMOVUPS(weight, operand.Mem{Base: w1})
	for _, p := range []reg.GPPhysical{w1, v1, w, g, v} {
		ADDQ(operand.Imm(uint64(set.bytes)), p)
	}
	SUBQ(operand.Imm(uint64(set.bytes/4)), count)
	JNE(operand.LabelRef("some"))
	VZEROUPPER()
	RET()
}
