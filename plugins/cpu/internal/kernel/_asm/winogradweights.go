package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// winogradWeights transforms kernels in float64.
func winogradWeights(c *constants, set isa, f winogradForm) {
	n := f.Tile()
	TEXT(f.name("Weights", set), NOSPLIT, "func(u *float32, uFreq int, taps *float32, tapStep int, count int)")
	Pragma("noescape")
	u, uFreq, count, at := pointers[0], pointers[1], pointers[2], pointers[3]
	steps, rows := []reg.GPPhysical{pointers[4], pointers[5]}, pointers[6:6+f.Kernel]
	MOVQ(param("u"), u)
	MOVQ(param("uFreq"), uFreq)
	MOVQ(param("count"), count)
	MOVQ(param("tapStep"), steps[0])
	LEAQ(operand.Mem{Base: steps[0], Index: steps[0], Scale: 2}, steps[1])
	MOVQ(param("taps"), rows[0])
	for i := 1; i < f.Kernel; i++ {
		LEAQ(operand.Mem{Base: rows[i-1], Index: steps[1], Scale: 1}, rows[i])
		for range f.Kernel / 4 {
			LEAQ(operand.Mem{Base: rows[i], Index: steps[0], Scale: 2}, rows[i])
		}
	}
	r := set.regs
	even, odd, temp := r[12], r[13], r[14]
	step := set.bytes / 2 // a vector of float64 has as many elements as half its bytes of float32
	narrow := reg.VecPhysical(reg.X14)
	if set.bytes == 64 {
		narrow = reg.Y14
	}
	// constant returns an operand with v in all lanes. If the instruction cannot read memory, it is register
	// 15.
	constant := func(v float64) operand.Op {
		if set.bytes == 32 {
			return c.double(v)
		}
		VBROADCASTSD(c.double(v), r[15])
		return r[15]
	}
	// split computes the even and the odd part of a kernel's polynomial at a pair of points. load loads value
	// k of the kernel.
	split := func(p float64, load func(k int, to reg.VecPhysical), coefficient func(k int) reg.VecPhysical) {
		square := constant(p * p)
		for i, acc := range []reg.VecPhysical{even, odd} {
			k := f.Kernel - 1 - i
			load(k, acc)
			for k -= 2; k >= 0; k -= 2 {
				VFMADD132PD(square, coefficient(k), acc)
			}
		}
		VMULPD(constant(p), odd, odd)
	}
	row := 0
	across := func(x []reg.VecPhysical) {
		store := func(j int, v reg.VecPhysical) {
			VMULPD(constant(f.Factor(row)*f.Factor(j)), v, temp)
			if set.bytes == 64 {
				VCVTPD2PS(temp, narrow)
			} else {
				VCVTPD2PSY(temp, narrow)
			}
			VMOVUPS(narrow, operand.Mem{Base: at})
			ADDQ(uFreq, at)
		}
		store(0, x[0])
		for i, p := range f.Pairs {
			split(p, func(k int, to reg.VecPhysical) { VMOVAPD(x[k], to) },
				func(k int) reg.VecPhysical { return x[k] })
			VADDPD(odd, even, temp)
			store(1+2*i, temp)
			VSUBPD(odd, even, temp)
			store(2+2*i, temp)
		}
		store(n-1, x[f.Kernel-1])
		row++
	}
	tap := func(y, x int, to reg.VecPhysical) { VCVTPS2PD(multiple(rows[y], steps, x), to) }
	Label("some")
	TESTQ(count, count)
	JE(operand.LabelRef("end"))
	MOVQ(u, at)
	if f.Kernel == 3 { // all taps are held
		for t := range 9 {
			tap(t/3, t%3, r[t])
		}
		across(r[:3])
		for _, p := range f.Pairs {
			for _, minus := range []bool{false, true} {
				for x := range 3 {
					split(p, func(y int, to reg.VecPhysical) { VMOVAPD(r[3*y+x], to) },
						func(y int) reg.VecPhysical { return r[3*y+x] })
					if minus {
						VSUBPD(odd, even, r[9+x])
					} else {
						VADDPD(odd, even, r[9+x])
					}
				}
				across(r[9:12])
			}
		}
		across(r[6:9])
	} else {
		edge := func(y int) {
			for x := range f.Kernel {
				tap(y, x, r[x])
			}
			across(r[:f.Kernel])
		}
		edge(0)
		for _, p := range f.Pairs {
			for x := range f.Kernel {
				split(p, func(y int, to reg.VecPhysical) { tap(y, x, to) }, func(y int) reg.VecPhysical {
					tap(y, x, temp)
					return temp
				})
				VADDPD(odd, even, r[x])
				VSUBPD(odd, even, r[6+x])
			}
			across(r[:f.Kernel])
			across(r[6:][:f.Kernel])
		}
		edge(f.Kernel - 1)
	}
	for _, p := range append([]reg.GPPhysical{u}, rows...) {
		ADDQ(operand.Imm(uint64(step)), p)
	}
	SUBQ(operand.Imm(uint64(step/4)), count)
	JMP(operand.LabelRef("some"))
	Label("end")
	VZEROUPPER()
	RET()
}
