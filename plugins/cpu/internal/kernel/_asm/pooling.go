package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Predicates of comparisons that raise no exception for NaN.
const (
	ordered   = 0x07
	unordered = 0x03
)

// pooling writes the maximum of one window of pixels, and its gradient, for
// channels that fill whole vectors.
func pooling() {
	for _, set := range []isa{avx512, avx2} {
		maxPool(set)
		maxPoolGradient(set)
		maxPoolQuads(set)
	}
}

// pool is the frame of a walk over vectors of channels and, inside, the pixels
// of a window.
type pool struct {
	isa
	pixels, taps, remaining, offs, address, tap reg.GPPhysical
}

func newPool(set isa) *pool {
	p := &pool{set, reg.RSI, reg.RDI, reg.R8, reg.R9, reg.R10, reg.R11}
	MOVQ(param("pixels"), p.pixels)
	MOVQ(param("taps"), p.taps)
	MOVQ(param("channels"), p.remaining)
	return p
}

// eachVector writes the loop over channels; bases advance by a vector.
func (p *pool) eachVector(bases []reg.GPPhysical, body func()) {
	Label("vector")
	CMPQ(p.remaining, operand.Imm(uint64(p.bytes/4)))
	JLT(operand.LabelRef("done"))
	body()
	for _, b := range bases {
		ADDQ(operand.Imm(uint64(p.bytes)), b)
	}
	SUBQ(operand.Imm(uint64(p.bytes/4)), p.remaining)
	JMP(operand.LabelRef("vector"))
	Label("done")
	VZEROUPPER()
	RET()
}

// eachTap writes a loop over the pixels of a window, from number first on.
func (p *pool) eachTap(name string, first int, body func()) {
	MOVQ(p.pixels, p.offs)
	ADDQ(operand.Imm(uint64(4*first)), p.offs)
	MOVQ(p.taps, p.tap)
	SUBQ(operand.Imm(uint64(first)), p.tap)
	Label(name)
	TESTQ(p.tap, p.tap)
	JE(operand.LabelRef(name + "End"))
	MOVLQSX(operand.Mem{Base: p.offs}, p.address)
	body()
	ADDQ(operand.Imm(4), p.offs)
	DECQ(p.tap)
	JMP(operand.LabelRef(name))
	Label(name + "End")
}

// pixel is the vector of channels of the current pixel.
func (p *pool) pixel(base reg.GPPhysical) operand.Mem {
	return operand.Mem{Base: base, Index: p.address, Scale: 1}
}

// maxPool writes several adjacent vectors of channels at once while enough are left,
// because a maximum waits for the previous one.
func maxPool(set isa) {
	TEXT("maxPool"+set.name, NOSPLIT, "func(y *float32, x *float32, pixels *int32, taps int, channels int)")
	Pragma("noescape")
	p := newPool(set)
	y, x := reg.RAX, reg.RBX
	MOVQ(param("y"), y)
	MOVQ(param("x"), x)
	for _, n := range []int{4, 2, 1} {
		name := []string{"", "one", "two", "", "four"}[n]
		Label(name)
		CMPQ(p.remaining, operand.Imm(uint64(n*p.bytes/4)))
		JLT(operand.LabelRef(name + "Done"))
		MOVLQSX(operand.Mem{Base: p.pixels}, p.address)
		for i := range n {
			VMOVUPS(p.pixel(x).Offset(i*p.bytes), set.regs[i])
		}
		p.eachTap(name+"Tap", 1, func() {
			for i := range n {
				p.larger(set.regs[i], set.regs[4+i], set.regs[8+i], p.pixel(x).Offset(i*p.bytes))
			}
		})
		for i := range n {
			VMOVUPS(set.regs[i], operand.Mem{Base: y, Disp: i * p.bytes})
		}
		ADDQ(operand.I32(n*p.bytes), y)
		ADDQ(operand.I32(n*p.bytes), x)
		SUBQ(operand.Imm(uint64(n*p.bytes/4)), p.remaining)
		JMP(operand.LabelRef(name))
		Label(name + "Done")
	}
	VZEROUPPER()
	RET()
}

// larger sets best to v where v is larger or NaN.
func (p *pool) larger(best, v, mask reg.VecPhysical, address operand.Mem) {
	VMOVUPS(address, v)
	VMAXPS(best, v, best) // the second operand, best, wins if one is NaN
	if p.bytes == 64 {
		VCMPPS(operand.Imm(unordered), v, v, reg.K1)
		VMOVAPS(v, reg.K1, best)
	} else {
		VCMPPS(operand.Imm(unordered), v, v, mask)
		VBLENDVPS(mask, v, best, best)
	}
}

func maxPoolGradient(set isa) {
	TEXT("maxPoolGradient"+set.name, NOSPLIT,
		"func(dx *float32, x *float32, dy *float32, pixels *int32, taps int, channels int)")
	Pragma("noescape")
	p := newPool(set)
	dx, x, dy := reg.RAX, reg.RBX, reg.RCX
	MOVQ(param("dx"), dx)
	MOVQ(param("x"), x)
	MOVQ(param("dy"), dy)
	best, v, g, which, number, one := set.regs[0], set.regs[1], set.regs[2], set.regs[3], set.regs[4],
		set.regs[5]
	MOVL(operand.U32(1), reg.EDX)
	MOVD(reg.EDX, reg.X5)
	VPBROADCASTD(reg.X5, one)
	p.eachVector([]reg.GPPhysical{dx, x, dy}, func() {
		MOVLQSX(operand.Mem{Base: p.pixels}, p.address)
		VMOVUPS(p.pixel(x), best)
		clearInts(set, which, number)
		p.eachTap("find", 1, func() {
			p.add(one, number)
			VMOVUPS(p.pixel(x), v)
			p.take(v, best, number, which)
		})
		VMOVUPS(operand.Mem{Base: dy}, g)
		clearInts(set, number)
		p.eachTap("give", 0, func() {
			if set.bytes == 64 {
				VPCMPEQD(which, number, reg.K1)
				VMOVUPS_Z(p.pixel(dx), reg.K1, v)
				VADDPS(g, v, reg.K1, v)
				VMOVUPS(v, reg.K1, p.pixel(dx))
			} else {
				VPCMPEQD(which, number, v)
				VANDPS(g, v, v)
				VADDPS(p.pixel(dx), v, v)
				VMOVUPS(v, p.pixel(dx))
			}
			p.add(one, number)
		})
	})
}

// take replaces elements of best by larger elements of v, or by the first NaN. It sets the same elements of
// indices to number.
func (p *pool) take(v, best, number, indices reg.VecPhysical) {
	if p.bytes == 64 {
		VCMPPS(operand.Imm(ordered), best, best, reg.K2)
		VCMPPS(operand.Imm(unordered), v, v, reg.K2, reg.K2)
		VCMPPS(operand.Imm(greater), best, v, reg.K1)
		KORW(reg.K1, reg.K2, reg.K1)
		VMOVAPS(v, reg.K1, best)
		VMOVDQA32(number, reg.K1, indices)
		return
	}
	a, b := p.regs[6], p.regs[7]
	VCMPPS(operand.Imm(ordered), best, best, a)
	VCMPPS(operand.Imm(unordered), v, v, b)
	VANDPS(a, b, a)
	VCMPPS(operand.Imm(greater), best, v, b)
	VORPS(a, b, a)
	VBLENDVPS(a, v, best, best)
	VBLENDVPS(a, number, indices, indices)
}

func (p *pool) add(increment, number reg.VecPhysical) { VPADDD(increment, number, number) }

// clearInts zeroes registers.
func clearInts(set isa, regs ...reg.VecPhysical) {
	for _, r := range regs {
		if set.bytes == 64 {
			VPXORD(r, r, r)
		} else {
			VXORPS(r, r, r)
		}
	}
}
