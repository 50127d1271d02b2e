package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// resample writes the functions for weighted sums and for averages of pixels in float64, pixel after
// pixel. The registers of AVX2 suffice, because the conversions limit the speed.
func resample() {
	resampled("resampleAVX2", "weights", false)
	resampled("averageAVX2", "divisors", true)
}

// resampled writes the function for weighted sums or the one for averages. numbers names the parameter with
// the weights of the terms, or with the divisors of the sums.
func resampled(name, numbers string, average bool) {
	TEXT(name, NOSPLIT, "func(y *float32, x *float32, ends *int32, first int, pixels *int32, "+
		numbers+" *float64, count int, channels int)")
	Pragma("noescape")
	m := &resampler{average: average,
		y: reg.RAX, x: reg.RBX, pixels: reg.RSI, weights: reg.RCX, ends: reg.RDX, first: reg.RDI,
		end: reg.R11, remaining: reg.R8, number: reg.R9, address: reg.R10, channel: reg.R12}
	MOVQ(param("y"), m.y)
	MOVQ(param("x"), m.x)
	MOVQ(param("ends"), m.ends)
	MOVQ(param("first"), m.first)
	MOVQ(param("pixels"), m.pixels)
	MOVQ(param(numbers), m.weights)
	Label("pixel")
	MOVLQSX(operand.Mem{Base: m.ends}, m.end)
	MOVQ(param("channels"), m.remaining)
	XORQ(m.channel, m.channel)
	m.blocks(8) // blocks of 4 channels
	m.blocks(4)
	m.blocks(1)
	Comment("the last block begins where it ends with the last channel")
	TESTQ(m.remaining, m.remaining)
	JE(operand.LabelRef("done"))
	LEAQ(operand.Mem{Base: m.channel, Index: m.remaining, Scale: 4, Disp: -16}, m.channel)
	MOVQ(operand.U32(4), m.remaining)
	JMP(operand.LabelRef("blocks1"))
	Label("done")
	ADDQ(m.channel, m.y)
	MOVQ(m.end, m.first)
	ADDQ(operand.Imm(4), m.ends)
	if average {
		ADDQ(operand.Imm(8), m.weights)
	}
	DECQ(param("count"))
	JNE(operand.LabelRef("pixel"))
	VZEROUPPER()
	RET()
}

// resampler is the code around loops over pixels, over blocks of channels in a pixel, and over the terms of
// a pixel. channel is the offset of a block in bytes, and remaining is the number of channels after it.
type resampler struct {
	average                                                                      bool
	y, x, pixels, weights, ends, first, end, remaining, number, address, channel reg.GPPhysical
}

// blocks writes the loop over blocks of 4n channels.
func (m *resampler) blocks(n int) {
	name := fmt.Sprint("blocks", n)
	Label(name)
	CMPQ(m.remaining, operand.Imm(uint64(4*n)))
	JLT(operand.LabelRef(name + "End"))
	weight, v := reg.Y15, []reg.VecPhysical{reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14}
	avx2.clear(n)
	MOVQ(m.first, m.number)
	CMPQ(m.number, m.end)
	JGE(operand.LabelRef(name + "Store"))
	Label(name + "Part")
	MOVLQSX(operand.Mem{Base: m.pixels, Index: m.number, Scale: 4}, m.address)
	ADDQ(m.channel, m.address)
	if !m.average {
		VBROADCASTSD(operand.Mem{Base: m.weights, Index: m.number, Scale: 8}, weight)
	}
	for i := range n {
		p := v[i%len(v)]
		VCVTPS2PD(operand.Mem{Base: m.x, Index: m.address, Scale: 1, Disp: 16 * i}, p)
		if !m.average {
			VMULPD(weight, p, p)
		}
		VADDPD(p, ymm[i], ymm[i])
	}
	INCQ(m.number)
	CMPQ(m.number, m.end)
	JLT(operand.LabelRef(name + "Part"))
	Label(name + "Store")
	if m.average {
		VBROADCASTSD(operand.Mem{Base: m.weights}, weight)
	}
	for i := range n {
		if m.average {
			VDIVPD(weight, ymm[i], ymm[i])
		}
		x := ymm[i].(reg.Vec).AsX()
		VCVTPD2PSY(ymm[i], x)
		VMOVUPS(x, operand.Mem{Base: m.y, Index: m.channel, Scale: 1, Disp: 16 * i})
	}
	ADDQ(operand.Imm(uint64(16*n)), m.channel)
	SUBQ(operand.Imm(uint64(4*n)), m.remaining)
	JMP(operand.LabelRef(name))
	Label(name + "End")
}
