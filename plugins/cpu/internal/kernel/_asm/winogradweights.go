package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// factor returns what makes up for the scale of the value at point i of n: one
// over the product of its distances from the other points.
func (f winogradForm) factor(i int) float64 {
	if i == f.tile()-1 {
		return 1
	}
	points := []float64{0}
	for _, p := range f.pairs {
		points = append(points, p, -p)
	}
	d := 1.0
	for j, p := range points {
		if j != i {
			d *= points[i] - p
		}
	}
	return 1 / d
}

// winogradWeights transforms kernels of 3 by 3 in float64.
func winogradWeights(c *constants, set isa, f winogradForm) {
	n := f.tile()
	TEXT(fmt.Sprintf("winogradWeights%sf%d", set.name, f.side), NOSPLIT,
		"func(u *float32, uFreq int, taps *float32, tapStep int, count int)")
	Pragma("noescape")
	u, uFreq, taps, tapStep, count, at := pointers[0], pointers[1], pointers[2], pointers[3], pointers[4],
		pointers[5]
	for i, name := range []string{"u", "uFreq", "taps", "tapStep", "count"} {
		MOVQ(param(name), pointers[i])
	}
	r := set.regs
	step := set.bytes / 2 // bytes of as many float32
	half := func(i int) reg.VecPhysical {
		if set.bytes == 64 {
			return []reg.VecPhysical{reg.Y12, reg.Y13, reg.Y14}[i-12]
		}
		return []reg.VecPhysical{reg.X12, reg.X13, reg.X14}[i-12]
	}
	// constant returns v in all lanes as an operand, in register 15 if need be.
	constant := func(v float64) operand.Op {
		if set.bytes == 32 {
			return c.double(v)
		}
		VBROADCASTSD(c.double(v), r[15])
		return r[15]
	}
	// three splits a kernel's row or column at a pair: even part to e, odd to o.
	split := func(p float64, x []reg.VecPhysical, e, o reg.VecPhysical) {
		VMOVAPD(x[0], e)
		VFMADD231PD(constant(p*p), x[2], e)
		VMULPD(constant(p), x[1], o)
	}
	row := 0
	across := func(x []reg.VecPhysical) {
		store := func(j int, v reg.VecPhysical) {
			VMULPD(constant(f.factor(row)*f.factor(j)), v, r[14])
			if set.bytes == 64 {
				VCVTPD2PS(r[14], half(14))
			} else {
				VCVTPD2PSY(r[14], half(14))
			}
			VMOVUPS(half(14), operand.Mem{Base: at})
			ADDQ(uFreq, at)
		}
		store(0, x[0])
		for i, p := range f.pairs {
			split(p, x, r[12], r[13])
			VADDPD(r[13], r[12], r[14])
			store(1+2*i, r[14])
			VSUBPD(r[13], r[12], r[14])
			store(2+2*i, r[14])
		}
		store(n-1, x[2])
		row++
	}
	Label("some")
	TESTQ(count, count)
	JE(operand.LabelRef("end"))
	MOVQ(taps, at)
	for t := range 9 {
		VCVTPS2PD(operand.Mem{Base: at}, r[t])
		ADDQ(tapStep, at)
	}
	MOVQ(u, at)
	across(r[0:3])
	for _, p := range f.pairs {
		for _, minus := range []bool{false, true} {
			for j := range 3 {
				split(p, []reg.VecPhysical{r[j], r[3+j], r[6+j]}, r[9+j], r[13])
				if minus {
					VSUBPD(r[13], r[9+j], r[9+j])
				} else {
					VADDPD(r[13], r[9+j], r[9+j])
				}
			}
			across(r[9:12])
		}
	}
	across(r[6:9])
	ADDQ(operand.Imm(uint64(step)), u)
	ADDQ(operand.Imm(uint64(step)), taps)
	SUBQ(operand.Imm(uint64(step/4)), count)
	JMP(operand.LabelRef("some"))
	Label("end")
	VZEROUPPER()
	RET()
}
