package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mix writes the sum of pixels with weights in float64. The registers of AVX2
// suffice: it is bound by the conversions.
func mix() {
	TEXT("mixAVX2", NOSPLIT,
		"func(y *float32, x *float32, pixels *int32, weights *float64, taps int, channels int)")
	Pragma("noescape")
	m := &mixer{y: reg.RAX, x: reg.RBX, pixels: reg.RSI, weights: reg.RCX, taps: reg.RDI, left: reg.R8,
		number: reg.R9, at: reg.R10}
	MOVQ(param("y"), m.y)
	MOVQ(param("x"), m.x)
	MOVQ(param("pixels"), m.pixels)
	MOVQ(param("weights"), m.weights)
	MOVQ(param("taps"), m.taps)
	MOVQ(param("channels"), m.left)
	m.blocks(8) // of 4 channels
	m.blocks(1)
	VZEROUPPER()
	RET()
}

// mixer is the frame of a walk over blocks of channels and, inside, pixels.
type mixer struct {
	y, x, pixels, weights, taps, left, number, at reg.GPPhysical
}

// blocks writes the loop over blocks of 4n channels.
func (m *mixer) blocks(n int) {
	name := map[int]string{1: "four", 8: "thirtytwo"}[n]
	Label(name)
	CMPQ(m.left, operand.Imm(uint64(4*n)))
	JLT(operand.LabelRef(name + "End"))
	avx2.clear(n)
	XORQ(m.number, m.number)
	Label(name + "Tap")
	MOVLQSX(operand.Mem{Base: m.pixels, Index: m.number, Scale: 4}, m.at)
	weight, v := reg.Y15, []reg.VecPhysical{reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14}
	VBROADCASTSD(operand.Mem{Base: m.weights, Index: m.number, Scale: 8}, weight)
	for i := range n {
		p := v[i%len(v)]
		VCVTPS2PD(operand.Mem{Base: m.x, Index: m.at, Scale: 1, Disp: 16 * i}, p)
		VMULPD(weight, p, p)
		VADDPD(p, ymm[i], ymm[i])
	}
	INCQ(m.number)
	CMPQ(m.number, m.taps)
	JLT(operand.LabelRef(name + "Tap"))
	for i := range n {
		x := ymm[i].(reg.Vec).AsX()
		VCVTPD2PSY(ymm[i], x)
		VMOVUPS(x, operand.Mem{Base: m.y, Disp: 16 * i})
	}
	ADDQ(operand.Imm(uint64(16*n)), m.y)
	ADDQ(operand.Imm(uint64(16*n)), m.x)
	SUBQ(operand.Imm(uint64(4*n)), m.left)
	JMP(operand.LabelRef(name))
	Label(name + "End")
}
