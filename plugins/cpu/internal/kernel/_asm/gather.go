package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gather writes the transposition of weights and of their gradients.
func gather() {
	for _, set := range []isa{avx512, avx2} {
		gatherBlocks(set, false)
		gatherBlocks(set, true)
		scatterBlocks(set)
	}
}

// gatherBlocks writes a loop for one vector of channels. Each turn reads the same number of adjacent values
// of each channel, and writes each value of all channels as one vector: value i at dst + to[i]*width. If
// scaled is set, it multiplies the values per channel in float64. width and step, the distance between
// channels, are in bytes.
func gatherBlocks(set isa, scaled bool) {
	name, signature := "gather", "dst *float32, width int, to *int32, src *float32, step int, "
	if scaled {
		name, signature = "gatherScaled", signature+"by *float64, "
	}
	TEXT(name+set.name, NOSPLIT, "func("+signature+"blocks int)")
	Pragma("noescape")
	dst, width, to, step, step3, by, blocks, at := pointers[0], pointers[1], pointers[2], pointers[3],
		pointers[4], pointers[5], pointers[6], pointers[7]
	lanes := set.bytes / 4
	rows := pointers[8:][:lanes/4] // pointers to every fourth channel
	MOVQ(param("dst"), dst)
	MOVQ(param("width"), width)
	MOVQ(param("to"), to)
	MOVQ(param("src"), rows[0])
	MOVQ(param("step"), step)
	LEAQ(operand.Mem{Base: step, Index: step, Scale: 2}, step3)
	for i := 1; i < len(rows); i++ {
		LEAQ(operand.Mem{Base: rows[i-1], Index: step, Scale: 4}, rows[i])
	}
	if scaled {
		MOVQ(param("by"), by)
	}
	MOVQ(param("blocks"), blocks)
	x, y := set.regs[:lanes], set.regs[lanes:][:lanes]
	Label("block")
	for i, r := range x {
		VMOVUPS(multiple(rows[i/4], []reg.GPPhysical{step, step3}, i%4), r)
	}
	set.transpose(x, y)
	for i, r := range x {
		MOVLQSX(operand.Mem{Base: to, Disp: 4 * i}, at)
		IMULQ(width, at)
		out := operand.Mem{Base: dst, Index: at, Scale: 1}
		if scaled {
			set.storeScaled(r, y, by, out)
		} else {
			VMOVUPS(r, out)
		}
	}
	for _, p := range append(rows, to) {
		ADDQ(operand.Imm(uint64(set.bytes)), p)
	}
	DECQ(blocks)
	JNE(operand.LabelRef("block"))
	VZEROUPPER()
	RET()
}

// scatterBlocks is the inverse of gatherBlocks: it reads vectors of channels at src +
// to[i]*width and writes adjacent values of each channel.
func scatterBlocks(set isa) {
	TEXT("scatter"+set.name, NOSPLIT,
		"func(dst *float32, step int, to *int32, src *float32, width int, blocks int)")
	Pragma("noescape")
	src, width, to, step, step3, blocks, at := pointers[0], pointers[1], pointers[2], pointers[3], pointers[4],
		pointers[5], pointers[6]
	lanes := set.bytes / 4
	rows := pointers[8:][:lanes/4] // pointers to every fourth channel
	MOVQ(param("src"), src)
	MOVQ(param("width"), width)
	MOVQ(param("to"), to)
	MOVQ(param("dst"), rows[0])
	MOVQ(param("step"), step)
	LEAQ(operand.Mem{Base: step, Index: step, Scale: 2}, step3)
	for i := 1; i < len(rows); i++ {
		LEAQ(operand.Mem{Base: rows[i-1], Index: step, Scale: 4}, rows[i])
	}
	MOVQ(param("blocks"), blocks)
	x, y := set.regs[:lanes], set.regs[lanes:][:lanes]
	Label("block")
	for i, r := range x {
		MOVLQSX(operand.Mem{Base: to, Disp: 4 * i}, at)
		IMULQ(width, at)
		VMOVUPS(operand.Mem{Base: src, Index: at, Scale: 1}, r)
	}
	set.transpose(x, y)
	for i, r := range x {
		VMOVUPS(r, multiple(rows[i/4], []reg.GPPhysical{step, step3}, i%4))
	}
	for _, p := range append(rows, to) {
		ADDQ(operand.Imm(uint64(set.bytes)), p)
	}
	DECQ(blocks)
	JNE(operand.LabelRef("block"))
	VZEROUPPER()
	RET()
}

// transpose transposes a square of float32 in the registers x. The registers y are spare.
func (s isa) transpose(x, y []reg.VecPhysical) {
	for i := 0; i < len(x); i += 2 {
		VUNPCKLPS(x[i+1], x[i], y[i])
		VUNPCKHPS(x[i+1], x[i], y[i+1])
	}
	for i := 0; i < len(x); i += 4 { // lane l of x[i+c] becomes column 4l+c of rows i to i+3
		VUNPCKLPD(y[i+2], y[i], x[i])
		VUNPCKHPD(y[i+2], y[i], x[i+1])
		VUNPCKLPD(y[i+3], y[i+1], x[i+2])
		VUNPCKHPD(y[i+3], y[i+1], x[i+3])
	}
	if s.bytes == 32 {
		for c := range 4 {
			VPERM2F128(operand.U8(0x20), x[4+c], x[c], y[c])
			VPERM2F128(operand.U8(0x31), x[4+c], x[c], y[4+c])
		}
		for i := range x {
			VMOVAPS(y[i], x[i])
		}
		return
	}
	for c := range 4 { // lanes 0 and 1 of two rows, then 2 and 3
		for h := range 2 {
			VSHUFF32X4(operand.U8(0x44), x[8*h+4+c], x[8*h+c], y[4*c+h])
			VSHUFF32X4(operand.U8(0xEE), x[8*h+4+c], x[8*h+c], y[4*c+2+h])
		}
	}
	for c := range 4 {
		for l := range 4 { // the even lanes of two registers, or the odd lanes
			even := operand.U8(0x88 + 0x55*(l%2))
			VSHUFF32X4(even, y[4*c+l/2*2+1], y[4*c+l/2*2], x[4*l+c])
		}
	}
}

// storeScaled multiplies x by the float64 factors, in float64, and stores the products as
// float32.
func (s isa) storeScaled(x reg.VecPhysical, free []reg.VecPhysical, factors reg.GPPhysical, out operand.Mem) {
	low, high := free[0], free[1]
	if s.bytes == 64 {
		VEXTRACTF64X4(operand.Imm(1), x, high.AsY())
		VCVTPS2PD(x.AsY(), low)
		VCVTPS2PD(high.AsY(), high)
	} else {
		VEXTRACTF128(operand.Imm(1), x, high.AsX())
		VCVTPS2PD(x.AsX(), low)
		VCVTPS2PD(high.AsX(), high)
	}
	for h, r := range []reg.VecPhysical{low, high} {
		VMULPD(operand.Mem{Base: factors, Disp: h * s.bytes}, r, r)
		to := out
		to.Disp += h * s.bytes / 2
		if s.bytes == 64 {
			VCVTPD2PS(r, r.AsY())
			VMOVUPS(r.AsY(), to)
		} else {
			VCVTPD2PSY(r, r.AsX())
			VMOVUPS(r.AsX(), to)
		}
	}
}
