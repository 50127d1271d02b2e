package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// holdInput loads the factors of the transform of tiles.
func (f winogradForm) holdInput(m *multiplier) {
	if len(f.Pairs) == 1 {
		return
	}
	m.hold(f.Coefficients()...)
	for i, p := range f.Pairs {
		q, _ := f.Other(i)
		m.hold(p, -p, q)
	}
}

// winogradInput transforms adjacent tiles.
func winogradInput(c *constants, set isa, f winogradForm) {
	n := f.Tile()
	TEXT(fmt.Sprintf("winogradInput%st%d", set.name, n), NOSPLIT,
		"func(v *float32, vFreq int, vTile int, in *float32, rowStep int, colStep int, tileStep int, "+
			"tiles int, vectors int)")
	Pragma("noescape")
	rows := pointers[:n]
	col := []reg.GPPhysical{pointers[6], pointers[7], pointers[8]}
	freq := []reg.GPPhysical{pointers[9], pointers[10], pointers[11]}
	out, left := reg.R14, reg.R15
	inAt, outAt, outNow, tiles := AllocLocal(8), AllocLocal(8), AllocLocal(8), AllocLocal(8)
	odds := func(name string, r []reg.GPPhysical) {
		MOVQ(param(name), r[0])
		for i := 1; i < (n+1)/2; i++ {
			MOVQ(r[i-1], r[i])
			ADDQ(r[0], r[i])
			ADDQ(r[0], r[i])
		}
	}
	odds("colStep", col)
	odds("vFreq", freq)
	for _, p := range []struct {
		name string
		at   operand.Mem
	}{{"in", inAt}, {"v", outAt}, {"tiles", tiles}} {
		MOVQ(param(p.name), left)
		MOVQ(left, p.at)
	}
	r := set.regs
	m := newMultiplier(c, set, 15)
	f.holdInput(m)

	Label("tile")
	CMPQ(tiles, operand.Imm(0))
	JE(operand.LabelRef("end"))
	MOVQ(inAt, rows[0])
	for i := 1; i < n; i++ {
		MOVQ(rows[i-1], rows[i])
		ADDQ(param("rowStep"), rows[i])
	}
	MOVQ(outAt, out)
	MOVQ(out, outNow)
	MOVQ(param("vectors"), left)
	if set.bytes == 32 {
		SHLQ(operand.Imm(1), left)
	}
	Label("vector")
	MOVQ(outNow, out)
	// across transforms a row that has the values x, and stores it.
	across := func(x []reg.VecPhysical, more bool) {
		load := func(k int, acc reg.VecPhysical) { VMOVAPS(x[k], acc) }
		add := func(v float64, k int, acc reg.VecPhysical) { m.add(v, x[k], acc) }
		store := func(j int, y reg.VecPhysical) { VMOVUPS(y, multiple(out, freq, j)) }
		f.edge(m, 0, load, add, r[12])
		store(0, r[12])
		for i, p := range f.Pairs {
			f.half(i, 2, load, add, r[12])
			f.half(i, 1, load, add, r[13])
			VMOVAPS(r[12], r[14])
			m.add(p, r[13], r[14])
			store(1+2*i, r[14])
			m.add(-p, r[13], r[12])
			store(2+2*i, r[12])
		}
		f.edge(m, 1, load, add, r[12])
		store(n-1, r[12])
		if more {
			for range n / 2 {
				LEAQ(operand.Mem{Base: out, Index: freq[0], Scale: 2}, out)
			}
		}
	}
	down := func(j int) (load func(int, reg.VecPhysical), add func(float64, int, reg.VecPhysical)) {
		return func(k int, acc reg.VecPhysical) { VMOVUPS(multiple(rows[k], col, j), acc) },
			func(v float64, k int, acc reg.VecPhysical) { m.addAt(v, multiple(rows[k], col, j), acc) }
	}
	for j := range n {
		load, add := down(j)
		f.edge(m, 0, load, add, r[j])
	}
	across(r[:n], true)
	for i, p := range f.Pairs {
		for j := range n {
			load, add := down(j)
			f.half(i, 2, load, add, r[j])
			f.half(i, 1, load, add, r[6+j])
		}
		for j := range n {
			VMOVAPS(r[j], r[12])
			m.add(p, r[6+j], r[12])
			m.add(-p, r[6+j], r[j])
			VMOVAPS(r[12], r[6+j])
		}
		across(r[6:6+n], true)
		across(r[:n], true)
	}
	for j := range n {
		load, add := down(j)
		f.edge(m, 1, load, add, r[j])
	}
	across(r[:n], false)
	for _, p := range rows {
		ADDQ(operand.Imm(uint64(set.bytes)), p)
	}
	ADDQ(operand.Imm(uint64(set.bytes)), outNow)
	DECQ(left)
	JNE(operand.LabelRef("vector"))
	MOVQ(param("tileStep"), left)
	ADDQ(left, inAt)
	MOVQ(param("vTile"), left)
	ADDQ(left, outAt)
	DECQ(tiles)
	JMP(operand.LabelRef("tile"))
	Label("end")
	VZEROUPPER()
	RET()
}
