package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// int8Bytes writes the operations on single bytes: sums of two maps, maxima, quantisation.
// All of them treat whole registers of bytes.
func int8Bytes() {
	for _, set := range []isa{avx512, avx2} {
		t := &int8Tiler{isa: set, name: set.name}
		order := t.order()
		t.addBytes(order)
		t.addJoint(order)
		t.quantize(order)
		t.maxBytes()
		t.sumBytes()
		t.gate(order)
		t.mulBytes(order)
		t.dequantize()
	}
	(&int8Tiler{isa: isa{"AVX", []reg.VecPhysical{reg.X0}, 16}, name: "AVX"}).maxBytes()
	tableBytes()
}

// order returns a table for permuting the double words of packed bytes into the order of the bytes.
func (t *int8Tiler) order() operand.Mem {
	lanes := t.bytes / 16
	order := GLOBL("bytesOrder"+t.name, attr.RODATA|attr.NOPTR)
	for v := range 4 {
		for i := range lanes {
			DATA(4*(lanes*v+i), operand.U32(uint32(4*i+v)))
		}
	}
	return order
}

// spread loads a parameter into all elements of a vector. size is "W" for words, "B" for bytes, "D" for
// double words.
func spread(name, size string, dst reg.VecPhysical) {
	MOVQ(param(name), reg.RAX)
	VMOVQ(reg.RAX, reg.X0)
	switch size {
	case "W":
		VPBROADCASTW(reg.X0, dst)
	case "B":
		VPBROADCASTB(reg.X0, dst)
	default:
		VPBROADCASTD(reg.X0, dst)
	}
}

// constant returns the register of constant i. Constants are in the last registers, in descending order.
func (t *int8Tiler) constant(i int) reg.VecPhysical { return t.regs[len(t.regs)-1-i] }

// eachVector writes the loop over blocks of one register of bytes. It advances the pointers
// in bases by bytes, and the ones in wide by elements of four bytes.
func (t *int8Tiler) eachVector(bases, wide []reg.GPPhysical, body func()) {
	Label("vector")
	body()
	for _, b := range bases {
		ADDQ(operand.Imm(uint64(t.bytes)), b)
	}
	for _, b := range wide {
		ADDQ(operand.U32(uint64(4*t.bytes)), b)
	}
	DECQ(param("vectors"))
	JNE(operand.LabelRef("vector"))
	VZEROUPPER()
	RET()
}

// end rounds registers 0 to 3, converts them to bytes and stores the bytes.
func (t *int8Tiler) end(out reg.GPPhysical, high, zero, low, order reg.VecPhysical) {
	for v := range 4 {
		VMINPS(high, t.regs[v], t.regs[v])
		VCVTPS2DQ(t.regs[v], t.regs[v])
	}
	t.pack(zero, low)
	VPERMD(t.regs[0], order, t.regs[0])
	t.move(t.regs[0], operand.Mem{Base: out})
}

// addBytes writes sums of two maps of bytes. Each byte above its zero point is multiplied by the factor of
// its map in float32, and the products are added in float32.
func (t *int8Tiler) addBytes(turn operand.Mem) {
	TEXT("addInt8"+t.name, NOSPLIT, "func(y *byte, a *byte, b *byte, aBy float32, bBy float32, most float32, "+
		"aZero int, bZero int, zero int, least int, vectors int)")
	Pragma("noescape")
	y, a, b := reg.RDI, reg.RSI, reg.RDX
	most, zero, least, order := t.constant(0), t.constant(1), t.constant(2), t.constant(3)
	aBy, bBy, aZero, bZero := t.constant(4), t.constant(5), t.constant(6), t.constant(7)
	VBROADCASTSS(param("most"), most)
	VBROADCASTSS(param("aBy"), aBy)
	VBROADCASTSS(param("bBy"), bBy)
	spread("zero", "W", zero)
	spread("least", "B", least)
	spread("aZero", "D", aZero)
	spread("bZero", "D", bZero)
	t.move(turn, order)
	MOVQ(param("y"), y)
	MOVQ(param("a"), a)
	MOVQ(param("b"), b)
	t.eachVector([]reg.GPPhysical{y, a, b}, nil, func() {
		for v := range 4 {
			s, u := t.regs[v], t.regs[4]
			VPMOVZXBD(operand.Mem{Base: a, Disp: t.bytes / 4 * v}, s)
			VPMOVZXBD(operand.Mem{Base: b, Disp: t.bytes / 4 * v}, u)
			VPSUBD(aZero, s, s)
			VPSUBD(bZero, u, u)
			VCVTDQ2PS(s, s)
			VCVTDQ2PS(u, u)
			VMULPS(aBy, s, s)
			VMULPS(bBy, u, u)
			VADDPS(u, s, s)
		}
		t.end(y, most, zero, least, order)
	})
}

// addJoint writes sums of two maps. Each product is fused with an addition: first to at, which includes the
// zero of the result. The zero is subtracted from the bytes of the maps first.
func (t *int8Tiler) addJoint(turn operand.Mem) {
	TEXT("addJointInt8"+t.name, NOSPLIT, "func(y *byte, a *byte, b *byte, aBy float32, bBy float32, "+
		"at float32, most float32, zero int, least int, vectors int)")
	Pragma("noescape")
	y, a, b := reg.RDI, reg.RSI, reg.RDX
	most, zero, least, order := t.constant(0), t.constant(1), t.constant(2), t.constant(3)
	aBy, bBy, at, half := t.constant(4), t.constant(5), t.constant(6), t.constant(7)
	VBROADCASTSS(param("most"), most)
	VBROADCASTSS(param("aBy"), aBy)
	VBROADCASTSS(param("bBy"), bBy)
	VBROADCASTSS(param("at"), at)
	spread("zero", "W", zero)
	spread("zero", "D", half)
	spread("least", "B", least)
	t.move(turn, order)
	MOVQ(param("y"), y)
	MOVQ(param("a"), a)
	MOVQ(param("b"), b)
	t.eachVector([]reg.GPPhysical{y, a, b}, nil, func() {
		for v := range 4 {
			s, u := t.regs[v], t.regs[4]
			VPMOVZXBD(operand.Mem{Base: a, Disp: t.bytes / 4 * v}, s)
			VPMOVZXBD(operand.Mem{Base: b, Disp: t.bytes / 4 * v}, u)
			VPSUBD(half, s, s)
			VPSUBD(half, u, u)
			VCVTDQ2PS(s, s)
			VCVTDQ2PS(u, u)
			VFMADD213PS(at, bBy, u)
			VFMADD213PS(u, aBy, s)
		}
		t.end(y, most, zero, least, order)
	})
}

// quantize writes the conversion of float32 to bytes. NaN is treated as zero.
func (t *int8Tiler) quantize(turn operand.Mem) {
	TEXT("quantizeInt8"+t.name, NOSPLIT, "func(y *byte, x *float32, scale float32, most float32, zero int, "+
		"vectors int)")
	Pragma("noescape")
	y, x := reg.RDI, reg.RSI
	most, zero, least, order, scale := t.constant(0), t.constant(1), t.constant(2), t.constant(3), t.constant(4)
	VBROADCASTSS(param("most"), most)
	VBROADCASTSS(param("scale"), scale)
	spread("zero", "W", zero)
	t.zero(least)
	t.move(turn, order)
	MOVQ(param("y"), y)
	MOVQ(param("x"), x)
	t.eachVector([]reg.GPPhysical{y}, []reg.GPPhysical{x}, func() {
		for v := range 4 {
			s := t.regs[v]
			VMOVUPS(operand.Mem{Base: x, Disp: t.bytes * v}, s)
			VDIVPS(scale, s, s)
			if t.bytes == 64 {
				VCMPPS(operand.Imm(ordered), s, s, reg.K1)
				VMOVAPS_Z(s, reg.K1, s)
			} else {
				VCMPPS(operand.Imm(ordered), s, s, t.regs[4])
				VANDPS(t.regs[4], s, s)
			}
		}
		t.end(y, most, zero, least, order)
	})
}

// maxBytes writes the maximum of one window of pixels. The table of pixels has offsets for elements of four
// bytes, four times the offsets in bytes.
func (t *int8Tiler) maxBytes() {
	TEXT("maxPoolInt8"+t.name, NOSPLIT, "func(y *byte, x *byte, pixels *int32, taps int, vectors int)")
	Pragma("noescape")
	y, x, pixels, tap, at := reg.RDI, reg.RSI, reg.RDX, reg.RCX, reg.RBX
	MOVQ(param("y"), y)
	MOVQ(param("x"), x)
	t.eachVector([]reg.GPPhysical{y, x}, nil, func() {
		MOVQ(param("pixels"), pixels)
		MOVQ(param("taps"), tap)
		t.zero(t.regs[0])
		Label("tap")
		MOVLQSX(operand.Mem{Base: pixels}, at)
		SARQ(operand.Imm(2), at)
		VPMAXUB(operand.Mem{Base: x, Index: at, Scale: 1}, t.regs[0], t.regs[0])
		ADDQ(operand.Imm(4), pixels)
		DECQ(tap)
		JNE(operand.LabelRef("tap"))
		t.move(t.regs[0], operand.Mem{Base: y})
	})
}

// sumBytes sums the bytes of each channel over at most 256 pixels, so that 16-bit sums do not overflow, and
// adds the results to 32-bit sums. It processes half a register of channels at once.
func (t *int8Tiler) sumBytes() {
	TEXT("sumInt8"+t.name, NOSPLIT, "func(sums *int32, x *byte, step int, pixels int, vectors int)")
	Pragma("noescape")
	sums, x, at, left, step := reg.RDI, reg.RSI, reg.RDX, reg.RCX, reg.RBX
	MOVQ(param("sums"), sums)
	MOVQ(param("x"), x)
	MOVQ(param("step"), step)
	Label("vector")
	MOVQ(x, at)
	MOVQ(param("pixels"), left)
	t.zero(t.regs[0])
	Label("pixel")
	VPMOVZXBW(operand.Mem{Base: at}, t.regs[1])
	VPADDW(t.regs[1], t.regs[0], t.regs[0])
	ADDQ(step, at)
	DECQ(left)
	JNE(operand.LabelRef("pixel"))
	for half := range 2 {
		if t.bytes == 64 {
			VEXTRACTI64X4(operand.Imm(uint64(half)), t.regs[0], reg.Y2)
			VPMOVZXWD(reg.Y2, reg.Z1)
			VPADDD(operand.Mem{Base: sums, Disp: 64 * half}, reg.Z1, reg.Z1)
		} else {
			VEXTRACTI128(operand.Imm(uint64(half)), t.regs[0], reg.X2)
			VPMOVZXWD(reg.X2, reg.Y1)
			VPADDD(operand.Mem{Base: sums, Disp: 32 * half}, reg.Y1, reg.Y1)
		}
		t.move(t.regs[1], operand.Mem{Base: sums, Disp: t.bytes * half})
	}
	ADDQ(operand.Imm(uint64(t.bytes/2)), x)
	ADDQ(operand.U32(uint64(2*t.bytes)), sums)
	DECQ(param("vectors"))
	JNE(operand.LabelRef("vector"))
	VZEROUPPER()
	RET()
}

// gate writes products of a pixel's bytes with factors of its channels. The factors are whole numbers, so
// that float32 represents the products exactly.
func (t *int8Tiler) gate(turn operand.Mem) {
	TEXT("gateInt8"+t.name, NOSPLIT, "func(y *byte, a *byte, gate *float32, by float32, at float32, "+
		"most float32, aZero int, zero int, least int, vectors int)")
	Pragma("noescape")
	y, a, gate := reg.RDI, reg.RSI, reg.RDX
	most, zero, least, order := t.constant(0), t.constant(1), t.constant(2), t.constant(3)
	by, aZero, at := t.constant(4), t.constant(5), t.constant(6)
	VBROADCASTSS(param("most"), most)
	VBROADCASTSS(param("by"), by)
	VBROADCASTSS(param("at"), at)
	spread("zero", "W", zero)
	spread("least", "B", least)
	spread("aZero", "D", aZero)
	t.move(turn, order)
	MOVQ(param("y"), y)
	MOVQ(param("a"), a)
	MOVQ(param("gate"), gate)
	t.eachVector([]reg.GPPhysical{y, a}, []reg.GPPhysical{gate}, func() {
		for v := range 4 {
			s := t.regs[v]
			VPMOVZXBD(operand.Mem{Base: a, Disp: t.bytes / 4 * v}, s)
			VPSUBD(aZero, s, s)
			VCVTDQ2PS(s, s)
			VMULPS(operand.Mem{Base: gate, Disp: t.bytes * v}, s, s)
			VMULPS(by, s, s)
			VADDPS(at, s, s)
		}
		t.end(y, most, zero, least, order)
	})
}

// mulBytes writes products of the bytes of two maps. float32 represents these products exactly.
func (t *int8Tiler) mulBytes(turn operand.Mem) {
	TEXT("mulInt8"+t.name, NOSPLIT, "func(y *byte, a *byte, b *byte, by float32, at float32, most float32, "+
		"aZero int, bZero int, zero int, least int, vectors int)")
	Pragma("noescape")
	y, a, b := reg.RDI, reg.RSI, reg.RDX
	most, zero, least, order := t.constant(0), t.constant(1), t.constant(2), t.constant(3)
	by, at, aZero, bZero := t.constant(4), t.constant(5), t.constant(6), t.constant(7)
	VBROADCASTSS(param("most"), most)
	VBROADCASTSS(param("by"), by)
	VBROADCASTSS(param("at"), at)
	spread("zero", "W", zero)
	spread("least", "B", least)
	spread("aZero", "D", aZero)
	spread("bZero", "D", bZero)
	t.move(turn, order)
	MOVQ(param("y"), y)
	MOVQ(param("a"), a)
	MOVQ(param("b"), b)
	t.eachVector([]reg.GPPhysical{y, a, b}, nil, func() {
		for v := range 4 {
			s, u := t.regs[v], t.regs[4]
			VPMOVZXBD(operand.Mem{Base: a, Disp: t.bytes / 4 * v}, s)
			VPMOVZXBD(operand.Mem{Base: b, Disp: t.bytes / 4 * v}, u)
			VPSUBD(aZero, s, s)
			VPSUBD(bZero, u, u)
			VCVTDQ2PS(s, s)
			VCVTDQ2PS(u, u)
			VMULPS(u, s, s)
			VMULPS(by, s, s)
			VADDPS(at, s, s)
		}
		t.end(y, most, zero, least, order)
	})
}

// dequantize writes the conversion of bytes to float32.
func (t *int8Tiler) dequantize() {
	TEXT("dequantizeInt8"+t.name, NOSPLIT, "func(y *float32, x *byte, scale float32, zero int, vectors int)")
	Pragma("noescape")
	y, x := reg.RDI, reg.RSI
	scale, zero := t.constant(0), t.constant(1)
	VBROADCASTSS(param("scale"), scale)
	spread("zero", "D", zero)
	MOVQ(param("y"), y)
	MOVQ(param("x"), x)
	t.eachVector([]reg.GPPhysical{x}, []reg.GPPhysical{y}, func() {
		for v := range 4 {
			s := t.regs[v]
			VPMOVZXBD(operand.Mem{Base: x, Disp: t.bytes / 4 * v}, s)
			VPSUBD(zero, s, s)
			VCVTDQ2PS(s, s)
			VMULPS(scale, s, s)
			t.move(s, operand.Mem{Base: y, Disp: t.bytes * v})
		}
	})
}

// tableBytes writes the lookup of 64 bytes at once in a table of 256, for processors with
// AVX512_VBMI. The highest bit of a byte selects one of the table's halves.
func tableBytes() {
	TEXT("tableInt8VBMI", NOSPLIT, "func(y *byte, x *byte, table *[256]byte, vectors int)")
	Pragma("noescape")
	y, x, table := reg.RDI, reg.RSI, reg.RDX
	MOVQ(param("y"), y)
	MOVQ(param("x"), x)
	MOVQ(param("table"), table)
	for i := range 4 {
		VMOVDQU32(operand.Mem{Base: table, Disp: 64 * i}, zmm[4+i])
	}
	t := &int8Tiler{isa: avx512}
	t.eachVector([]reg.GPPhysical{y, x}, nil, func() {
		VMOVDQU32(operand.Mem{Base: x}, zmm[0])
		VMOVDQU32(zmm[0], zmm[1])
		VPMOVB2M(zmm[0], reg.K1)
		VPERMI2B(zmm[5], zmm[4], zmm[0])
		VPERMI2B(zmm[7], zmm[6], zmm[1])
		VMOVDQU8(zmm[1], reg.K1, zmm[0])
		VMOVDQU32(zmm[0], operand.Mem{Base: y})
	})
}
