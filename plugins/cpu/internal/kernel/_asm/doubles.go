package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// doubles writes functions of float64.
func doubles() {
	expDoubles(avx512)
	expDoubles(avx2)
}

// Offsets of the constants of tensor.Exp in the table, which repeats each value for all
// lanes of a 64-byte vector.
const (
	tableLeast = iota
	tableMost
	tableInverse
	tableHalf
	tableHigh
	tableLow
	tableOne
	tableRound // 1.5 * 2^52: adding it rounds a number to an integer, in the last bits of the sum
	tableBias  // bits of 2^0, as an integer
	tableSeries
)

const expTerms = 12

// expDoubles writes the loop of tensor.Exp, with every operation rounded. count is a multiple of the
// lanes. The bit of a lane in inside is set if all elements of the lane are between the bounds of normal
// results.
func expDoubles(set isa) {
	TEXT("expDoubles"+set.name, NOSPLIT, "func(y, x, table *float64, inside *uint64, count int)")
	Pragma("noescape")
	y, x, table, count, all, some := pointers[0], pointers[1], pointers[2], pointers[3], pointers[4], pointers[5]
	MOVQ(param("y"), y)
	MOVQ(param("x"), x)
	MOVQ(param("table"), table)
	MOVQ(param("count"), count)
	at := func(i int) operand.Mem { return operand.Mem{Base: table, Disp: 64 * i} }
	v, n, hi, lo, r, low, sum := set.regs[0], set.regs[1], set.regs[2], set.regs[3], set.regs[4], set.regs[5],
		set.regs[6]
	MOVQ(operand.U32(uint32(1)<<(set.bytes/8)-1), all)
	Label("some")
	VMOVUPD(operand.Mem{Base: x}, v)
	if set.bytes == 64 {
		VCMPPD(operand.Imm(atLeast), at(tableLeast), v, reg.K1)
		VCMPPD(operand.Imm(atMost), at(tableMost), v, reg.K1, reg.K1)
		KMOVW(reg.K1, some.(reg.GP).As32())
	} else {
		VCMPPD(operand.Imm(atLeast), at(tableLeast), v, n)
		VCMPPD(operand.Imm(atMost), at(tableMost), v, hi)
		VANDPD(n, hi, n)
		VMOVMSKPD(n, some.(reg.GP).As32())
	}
	ANDQ(some, all)
	VMULPD(at(tableInverse), v, n)
	VADDPD(at(tableHalf), n, n)
	if set.bytes == 64 {
		VRNDSCALEPD(operand.Imm(9), n, n)
	} else {
		VROUNDPD(operand.Imm(9), n, n)
	}
	VMULPD(at(tableHigh), n, hi)
	VSUBPD(hi, v, hi)
	VMULPD(at(tableLow), n, lo)
	VSUBPD(lo, hi, r)
	VSUBPD(r, hi, low)
	VSUBPD(lo, low, low)
	VMOVUPD(at(tableSeries), sum)
	for i := 1; i < expTerms; i++ {
		VMULPD(r, sum, sum)
		VADDPD(at(tableSeries+i), sum, sum)
	}
	VMULPD(r, r, v)
	VMULPD(v, sum, sum)
	VADDPD(low, sum, sum)
	VADDPD(sum, r, r)
	VADDPD(at(tableOne), r, r)
	VADDPD(at(tableRound), n, n)
	VPSLLQ(operand.Imm(52), n, n)
	VPADDQ(at(tableBias), n, n)
	VMULPD(n, r, r)
	VMOVUPD(r, operand.Mem{Base: y})
	ADDQ(operand.Imm(uint64(set.bytes)), x)
	ADDQ(operand.Imm(uint64(set.bytes)), y)
	SUBQ(operand.Imm(uint64(set.bytes/8)), count)
	JNE(operand.LabelRef("some"))
	MOVQ(param("inside"), x)
	MOVQ(all, operand.Mem{Base: x})
	VZEROUPPER()
	RET()
}

// atMost is the predicate "first <= second". It is false for NaN, and raises no exception.
const atMost = 0x12
