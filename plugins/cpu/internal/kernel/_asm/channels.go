package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// channels writes the walks over positions that treat a column of channels:
// as many as one vector of float32 has lanes. Steps between positions are in
// bytes.
func channels() {
	for _, set := range []isa{avx512, avx2} {
		sums(set)
		sizes(set)
		deviations(set)
		gradientSums(set)
		maskedSums(set, false)
		maskedSums(set, true)
		for _, plus := range []bool{false, true} {
			for _, relu := range []bool{false, true} {
				normalise(set, plus, relu)
			}
		}
		normaliseGradient(set)
	}
}

// column is the frame of a walk: pointers that advance by the same step.
type column struct {
	isa
	step, count reg.GPPhysical
	moving      []reg.GPPhysical
}

// newColumn starts a function whose parameters are fixed pointers, then
// moving ones, then step and count.
func newColumn(set isa, name string, fixed, moving []string) (*column, []reg.GPPhysical) {
	signature := ""
	for _, p := range fixed {
		kind := "*float32"
		if p == "sum" || p == "q" || p == "s1" || p == "s2" || p == "mean" {
			kind = "*float64"
		}
		signature += p + " " + kind + ", "
	}
	for _, p := range moving {
		signature += p + " *float32, "
	}
	TEXT(name+set.name, NOSPLIT, "func("+signature+"step int, count int)")
	Pragma("noescape")
	c := &column{isa: set}
	load := func(i int, name string) reg.GPPhysical {
		r := pointers[i]
		MOVQ(param(name), r)
		return r
	}
	var still []reg.GPPhysical
	n := 0
	for _, p := range fixed {
		still = append(still, load(n, p))
		n++
	}
	for _, p := range moving {
		c.moving = append(c.moving, load(n, p))
		n++
	}
	c.step, c.count = load(n, "step"), load(n+1, "count")
	return c, still
}

// walk writes the loop around what body makes of one position.
func (c *column) walk(body func()) {
	TESTQ(c.count, c.count)
	JE(operand.LabelRef("done"))
	Label("position")
	body()
	for _, p := range c.moving {
		ADDQ(c.step, p)
	}
	DECQ(c.count)
	JNE(operand.LabelRef("position"))
	Label("done")
}

// halves names the two registers that hold a column in float64, from i on.
func (c *column) halves(i int) []reg.VecPhysical { return c.regs[i : i+2] }

// half returns the memory of half h of a column of elements of size bytes.
func (c *column) half(p reg.GPPhysical, h, size int) operand.Mem {
	return operand.Mem{Base: p, Disp: h * c.bytes / 8 * size}
}

// wide loads a column of float32 as float64.
func (c *column) wide(p reg.GPPhysical, to []reg.VecPhysical) {
	for h, r := range to {
		VCVTPS2PD(c.half(p, h, 4), r)
	}
}

// load and store move a column of float64.
func (c *column) load(p reg.GPPhysical, to []reg.VecPhysical) {
	for h, r := range to {
		VMOVUPD(c.half(p, h, 8), r)
	}
}

func (c *column) store(from []reg.VecPhysical, p reg.GPPhysical) {
	for h, r := range from {
		VMOVUPD(r, c.half(p, h, 8))
	}
}

func (c *column) end() {
	VZEROUPPER()
	RET()
}

func sums(set isa) {
	c, still := newColumn(set, "sums", []string{"sum"}, []string{"x"})
	sum, x := c.halves(0), c.halves(2)
	c.load(still[0], sum)
	c.walk(func() {
		c.wide(c.moving[0], x)
		for h := range x {
			VADDPD(x[h], sum[h], sum[h])
		}
	})
	c.store(sum, still[0])
	c.end()
}

func sizes(set isa) {
	c, still := newColumn(set, "sizes", []string{"size", "most"}, []string{"x"})
	size, most, v, mask := c.regs[0], c.regs[1], c.regs[2], c.regs[3]
	VMOVUPS(operand.Mem{Base: still[0]}, size)
	VMOVUPS(operand.Mem{Base: still[1]}, most)
	if set.bytes == 64 {
		VPTERNLOGD(operand.U8(255), mask, mask, mask)
	} else {
		VPCMPEQD(mask, mask, mask)
	}
	VPSRLD(operand.Imm(1), mask, mask)
	c.walk(func() {
		VMOVUPS(operand.Mem{Base: c.moving[0]}, v)
		if set.bytes == 64 {
			VPANDD(v, mask, v)
		} else {
			VPAND(v, mask, v)
		}
		VADDPS(v, size, size)
		VPMAXUD(v, most, most) // as numbers NaN are above infinity
	})
	VMOVUPS(size, operand.Mem{Base: still[0]})
	VMOVUPS(most, operand.Mem{Base: still[1]})
	c.end()
}

func deviations(set isa) {
	c, still := newColumn(set, "deviations", []string{"q", "mean"}, []string{"x"})
	q, mean, x := c.halves(0), c.halves(2), c.halves(4)
	c.load(still[0], q)
	c.load(still[1], mean)
	c.walk(func() {
		c.wide(c.moving[0], x)
		for h := range x {
			VSUBPD(mean[h], x[h], x[h])
			VMULPD(x[h], x[h], x[h])
			VADDPD(x[h], q[h], q[h])
		}
	})
	c.store(q, still[0])
	c.end()
}

func gradientSums(set isa) {
	c, still := newColumn(set, "gradientSums", []string{"s1", "s2", "mean"}, []string{"x", "dy"})
	s1, s2, mean, x, dy := c.halves(0), c.halves(2), c.halves(4), c.halves(6), c.halves(8)
	c.load(still[0], s1)
	c.load(still[1], s2)
	c.load(still[2], mean)
	c.walk(func() {
		c.wide(c.moving[0], x)
		c.wide(c.moving[1], dy)
		for h := range x {
			VADDPD(dy[h], s1[h], s1[h])
			VSUBPD(mean[h], x[h], x[h])
			VMULPD(x[h], dy[h], x[h])
			VADDPD(x[h], s2[h], s2[h])
		}
	})
	c.store(s1, still[0])
	c.store(s2, still[1])
	c.end()
}

// unmasked is the predicate "not first >= second", true for NaN, quiet.
const unmasked = 0x19

func maskedSums(set isa, plus bool) {
	name, moving := "maskedSums", []string{"x", "dx", "dy", "y"}
	if plus {
		name, moving = name+"Plus", append(moving, "plus")
	}
	c, still := newColumn(set, name, []string{"s1", "s2", "mean", "most"}, moving)
	s1, s2, mean, x, wide := c.halves(0), c.halves(2), c.halves(4), c.halves(6), c.halves(8)
	y, g, most, zero, spare := c.regs[10], c.regs[11], c.regs[12], c.regs[13], c.regs[14]
	c.load(still[0], s1)
	c.load(still[1], s2)
	c.load(still[2], mean)
	VBROADCASTSS(operand.Mem{Base: still[3]}, most)
	if set.bytes == 64 {
		VPXORD(zero, zero, zero)
	} else {
		VXORPS(zero, zero, zero)
	}
	c.walk(func() {
		VMOVUPS(operand.Mem{Base: c.moving[3]}, y)
		VMOVUPS(operand.Mem{Base: c.moving[2]}, g)
		if plus {
			VADDPS(operand.Mem{Base: c.moving[4]}, g, g)
		}
		if set.bytes == 64 {
			VCMPPS(operand.Imm(greater), zero, y, reg.K1)
			VCMPPS(operand.Imm(unmasked), most, y, reg.K1, reg.K1)
			VMOVAPS_Z(g, reg.K1, g)
			VMOVUPS(g, operand.Mem{Base: c.moving[1]})
			VEXTRACTF64X4(operand.Imm(1), reg.Z11, reg.Y14)
			VCVTPS2PD(reg.Y11, wide[0])
			VCVTPS2PD(reg.Y14, wide[1])
		} else {
			VCMPPS(operand.Imm(greater), zero, y, spare)
			VANDPS(spare, g, g)
			VCMPPS(operand.Imm(unmasked), most, y, spare)
			VANDPS(spare, g, g)
			VMOVUPS(g, operand.Mem{Base: c.moving[1]})
			VEXTRACTF128(operand.Imm(1), reg.Y11, reg.X14)
			VCVTPS2PD(reg.X11, wide[0])
			VCVTPS2PD(reg.X14, wide[1])
		}
		c.wide(c.moving[0], x)
		for h := range x {
			VADDPD(wide[h], s1[h], s1[h])
			VSUBPD(mean[h], x[h], x[h])
			VMULPD(x[h], wide[h], x[h])
			VADDPD(x[h], s2[h], s2[h])
		}
	})
	c.store(s1, still[0])
	c.store(s2, still[1])
	c.end()
}

// parameters loads the per-channel vectors of a normalisation, from register 1 on.
func (c *column) parameters(still []reg.GPPhysical) []reg.VecPhysical {
	for i, p := range still {
		VMOVUPS(operand.Mem{Base: p}, c.regs[1+i])
	}
	return c.regs[1 : 1+len(still)]
}

// normalise writes the walk over positions: at each, over the vectors of a run
// of channels, so that memory is read as it lies. skip is what lies between
// the runs, in bytes.
func normalise(set isa, plus, relu bool) {
	name, moving := "normalise", []string{"y", "x"}
	if plus {
		name, moving = name+"Plus", append(moving, "plus")
	}
	if relu {
		name += "Relu"
	}
	args := append([]string{"hi", "lo", "by", "add"}, moving...)
	signature := ""
	for _, a := range args {
		signature += a + " *float32, "
	}
	if relu {
		signature += "most *float32, "
	}
	TEXT(name+set.name, NOSPLIT, "func("+signature+"bytes int, skip int, count int)")
	Pragma("noescape")
	for i, a := range args {
		MOVQ(param(a), pointers[i])
	}
	at, count, bytes := pointers[len(args)], pointers[len(args)+1], pointers[len(args)+2]
	still, walk := pointers[:4], pointers[4:len(args)]
	zero, bound, v := set.regs[0], set.regs[1], set.regs[2]
	set.clear(1)
	if relu {
		MOVQ(param("most"), at)
		VBROADCASTSS(operand.Mem{Base: at}, bound)
	}
	MOVQ(param("count"), count)
	MOVQ(param("bytes"), bytes)
	Label("position")
	XORQ(at, at)
	Label("vector")
	channel := func(p reg.GPPhysical) operand.Mem { return operand.Mem{Base: p, Index: at, Scale: 1} }
	VMOVUPS(channel(walk[1]), v)
	VSUBPS(channel(still[0]), v, v)
	VSUBPS(channel(still[1]), v, v)
	VMULPS(channel(still[2]), v, v)
	VADDPS(channel(still[3]), v, v)
	if plus {
		VADDPS(channel(walk[2]), v, v)
	}
	if relu { // the second operand wins if it is NaN
		VMAXPS(v, zero, v)
		VMINPS(v, bound, v)
	}
	VMOVUPS(v, channel(walk[0]))
	ADDQ(operand.Imm(uint64(set.bytes)), at)
	CMPQ(at, bytes)
	JNE(operand.LabelRef("vector"))
	ADDQ(param("skip"), at)
	for _, p := range walk {
		ADDQ(at, p)
	}
	DECQ(count)
	JNE(operand.LabelRef("position"))
	VZEROUPPER()
	RET()
}

func normaliseGradient(set isa) {
	c, still := newColumn(set, "normaliseGradient", []string{"hi", "lo", "by", "add", "slope"},
		[]string{"dx", "x", "dy"})
	p, v, g := c.parameters(still), c.regs[8], c.regs[9]
	c.walk(func() {
		VMOVUPS(operand.Mem{Base: c.moving[1]}, v)
		VSUBPS(p[0], v, v)
		VSUBPS(p[1], v, v)
		VMULPS(p[4], v, v)
		VMOVUPS(operand.Mem{Base: c.moving[2]}, g)
		VSUBPS(p[3], g, g)
		VSUBPS(v, g, g)
		VMULPS(g, p[2], g)
		VMOVUPS(g, operand.Mem{Base: c.moving[0]})
	})
	c.end()
}
