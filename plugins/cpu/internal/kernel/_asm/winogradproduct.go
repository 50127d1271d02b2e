package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// winogradProduct multiplies p tiles with n*16 channels of weights, frequency by frequency. Every element
// is a sum of blocks, and each block is one chain. Unless ahead is 0, it prefetches the weights that are
// ahead bytes after the current ones.
func winogradProduct(set isa, n, p int) {
	TEXT(fmt.Sprintf("winogradProduct%sx%dp%d", set.name, n, p), NOSPLIT,
		"func(m *float32, mTile int, mFreq int, v *float32, vTile int, vFreq int, u *float32, uStep int, "+
			"uFreq int, freqs int, blocks int, length int, ahead int)")
	Pragma("noescape")
	width := n * set.vectors()
	acc := func(i, v int) reg.VecPhysical { return set.regs[i*width+v] }
	x := newPixels(pointers[0], pointers[1], pointers[2:9], param("vTile"))
	u, k, m, blocks := pointers[9], pointers[10], pointers[11], reg.R14
	step := reg.R15
	vAt, uAt, mAt, freqs := AllocLocal(8), AllocLocal(8), AllocLocal(8), AllocLocal(8)
	MOVQ(param("uStep"), step)
	for _, l := range []struct {
		name string
		at   operand.Mem
	}{{"v", vAt}, {"u", uAt}, {"m", mAt}, {"freqs", freqs}} {
		MOVQ(param(l.name), k)
		MOVQ(k, l.at)
	}
	Label("freq")
	CMPQ(freqs, operand.Imm(0))
	JE(operand.LabelRef("end"))
	MOVQ(vAt, x.base)
	MOVQ(uAt, u)
	MOVQ(param("blocks"), blocks)
	Label("block")
	set.clear(p * width)
	MOVQ(param("length"), k)
	early := m // register m is free until the end of the block
	loop := func(name string, fetch bool) {
		Label(name)
		for j := range 2 {
			if fetch {
				for line := range n {
					PREFETCHT0(operand.Mem{Base: early, Disp: 64 * line})
				}
				ADDQ(step, early)
			}
			outer{
				isa: set, rows: p, width: width, sum: acc,
				weight: func(v int) operand.Mem { return operand.Mem{Base: u, Disp: set.bytes * v} },
				value: func(i int) operand.Mem {
					at := x.address(i)
					at.Disp = 4 * j
					return at
				},
			}.add()
			ADDQ(step, u)
		}
		ADDQ(operand.Imm(8), x.base)
		SUBQ(operand.Imm(2), k)
		JNE(operand.LabelRef(name))
	}
	MOVQ(param("ahead"), early)
	TESTQ(early, early)
	JE(operand.LabelRef("value"))
	ADDQ(u, early)
	loop("fetching", true)
	JMP(operand.LabelRef("sum"))
	loop("value", false)
	Label("sum")
	MOVQ(mAt, m)
	CMPQ(blocks, param("blocks"))
	JE(operand.LabelRef("write"))
	for i := range p {
		for v := range width {
			VADDPS(operand.Mem{Base: m, Disp: set.bytes * v}, acc(i, v), acc(i, v))
		}
		ADDQ(param("mTile"), m)
	}
	MOVQ(mAt, m)
	Label("write")
	for i := range p {
		for v := range width {
			VMOVUPS(acc(i, v), operand.Mem{Base: m, Disp: set.bytes * v})
		}
		ADDQ(param("mTile"), m)
	}
	DECQ(blocks)
	JNE(operand.LabelRef("block"))
	for _, l := range []struct {
		name string
		at   operand.Mem
	}{{"vFreq", vAt}, {"uFreq", uAt}, {"mFreq", mAt}} {
		MOVQ(param(l.name), k)
		ADDQ(k, l.at)
	}
	DECQ(freqs)
	JMP(operand.LabelRef("freq"))
	Label("end")
	VZEROUPPER()
	RET()
}

// winogradSpread writes a loop over blocks. For each block it computes the sum of the absolute values of
// two runs, and the largest absolute value.
func winogradSpread(set isa) {
	TEXT(fmt.Sprintf("winogradSpread%s", set.name), NOSPLIT,
		"func(sums *float32, most *uint32, a *float32, b *float32, run int, count int)")
	Pragma("noescape")
	sums, most, a, b, run, count, k := pointers[0], pointers[1], pointers[2], pointers[3], pointers[4],
		pointers[5], pointers[6]
	for i, name := range []string{"sums", "most", "a", "b", "run", "count"} {
		MOVQ(param(name), pointers[i])
	}
	width := set.vectors()
	sum, top, x, mask := set.regs[0:width], set.regs[2:2+width], set.regs[4], set.regs[5]
	if set.bytes == 64 {
		VPTERNLOGD(operand.U8(255), mask, mask, mask)
		VPSRLD(operand.Imm(1), mask, mask)
	} else {
		VPCMPEQD(mask, mask, mask)
		VPSRLD(operand.Imm(1), mask, mask)
	}
	Label("block")
	TESTQ(count, count)
	JE(operand.LabelRef("end"))
	for v := range width {
		if set.bytes == 64 {
			VPXORD(sum[v], sum[v], sum[v])
			VPXORD(top[v], top[v], top[v])
		} else {
			VPXOR(sum[v], sum[v], sum[v])
			VPXOR(top[v], top[v], top[v])
		}
	}
	MOVQ(run, k)
	Label("run")
	for _, p := range []reg.GPPhysical{a, b} {
		for v := range width {
			at := operand.Mem{Base: p, Disp: set.bytes * v}
			if set.bytes == 64 {
				VPANDD(at, mask, x)
			} else {
				VPAND(at, mask, x)
			}
			VADDPS(x, sum[v], sum[v])
			VPMAXUD(x, top[v], top[v])
		}
		ADDQ(operand.Imm(64), p)
	}
	SUBQ(operand.Imm(16), k)
	JNE(operand.LabelRef("run"))
	y := []reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3}
	if set.bytes == 64 {
		VEXTRACTF64X4(operand.Imm(1), reg.Z0, reg.Y1)
		VEXTRACTI64X4(operand.Imm(1), reg.Z2, reg.Y3)
	}
	VADDPS(y[1], y[0], y[0])
	VPMAXUD(y[3], y[2], y[2])
	VEXTRACTF128(operand.Imm(1), reg.Y0, reg.X1)
	VEXTRACTI128(operand.Imm(1), reg.Y2, reg.X3)
	VADDPS(reg.X1, reg.X0, reg.X0)
	VPMAXUD(reg.X3, reg.X2, reg.X2)
	for _, order := range []uint64{0b01001110, 0b10110001} {
		VPSHUFD(operand.Imm(order), reg.X0, reg.X1)
		VPSHUFD(operand.Imm(order), reg.X2, reg.X3)
		VADDPS(reg.X1, reg.X0, reg.X0)
		VPMAXUD(reg.X3, reg.X2, reg.X2)
	}
	VMOVSS(reg.X0, operand.Mem{Base: sums})
	VMOVD(reg.X2, operand.Mem{Base: most})
	ADDQ(operand.Imm(4), sums)
	ADDQ(operand.Imm(4), most)
	DECQ(count)
	JMP(operand.LabelRef("block"))
	Label("end")
	VZEROUPPER()
	RET()
}
