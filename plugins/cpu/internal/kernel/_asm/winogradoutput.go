package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// holdOutput loads the factors of the inverse transform.
func (f winogradForm) holdOutput(m *multiplier) {
	for _, p := range f.Pairs {
		for j := 1; j < f.Side; j++ {
			if v := math.Pow(p, float64(j)); v != 1 {
				m.hold(v)
			}
		}
	}
}

// output sets acc to output j from the values at the points: value(k) is an operand for value k. s is a free
// register.
func (f winogradForm) output(m *multiplier, j int, value func(k int) operand.Op, s, acc reg.VecPhysical) {
	move := func(k int, r reg.VecPhysical) {
		if x, ok := value(k).(reg.VecPhysical); ok {
			VMOVAPS(x, r)
		} else {
			VMOVUPS(value(k), r)
		}
	}
	for i, p := range f.Pairs {
		v := math.Pow(p, float64(j))
		move(1+2*i, s)
		if j%2 == 0 {
			VADDPS(value(2+2*i), s, s)
		} else {
			VSUBPS(value(2+2*i), s, s)
		}
		switch {
		case i > 0:
		case j == 0:
			move(0, acc)
		case j == f.Side-1:
			move(f.Tile()-1, acc)
		default:
			m.times(v, s, acc)
			continue
		}
		m.add(v, s, acc)
	}
}

// winogradOutput computes the outputs of adjacent tiles.
func winogradOutput(c *constants, set isa, f winogradForm) {
	n := f.Tile()
	TEXT(f.name("Output", set), NOSPLIT,
		"func(out *float32, rowStep int, colStep int, tileStep int, m *float32, mFreq int, mTile int, "+
			"bias *float32, "+epilogueParams+", tiles int, vectors int)")
	Pragma("noescape")
	rows := pointers[:f.Side]
	col := []reg.GPPhysical{pointers[4], pointers[5]}
	freq := []reg.GPPhysical{pointers[6], pointers[7], pointers[8]}
	bias, in, left, tiles := pointers[9], pointers[10], pointers[11], reg.R14
	outAt, inAt, inNow, apart := AllocLocal(8), AllocLocal(8), AllocLocal(8), AllocLocal(8)
	MOVQ(param("plus"), left)
	SUBQ(param("out"), left)
	MOVQ(left, apart)
	MOVQ(param("colStep"), col[0])
	LEAQ(operand.Mem{Base: col[0], Index: col[0], Scale: 2}, col[1])
	MOVQ(param("mFreq"), freq[0])
	LEAQ(operand.Mem{Base: freq[0], Index: freq[0], Scale: 2}, freq[1])
	LEAQ(operand.Mem{Base: freq[1], Index: freq[0], Scale: 2}, freq[2])
	MOVQ(param("out"), left)
	MOVQ(left, outAt)
	MOVQ(param("m"), left)
	MOVQ(left, inAt)
	MOVQ(param("tiles"), tiles)
	r := set.regs
	m := newMultiplier(c, set, 15)
	f.holdOutput(m)

	Label("tile")
	TESTQ(tiles, tiles)
	JE(operand.LabelRef("end"))
	MOVQ(outAt, rows[0])
	for i := 1; i < f.Side; i++ {
		MOVQ(rows[i-1], rows[i])
		ADDQ(param("rowStep"), rows[i])
	}
	MOVQ(inAt, in)
	MOVQ(in, inNow)
	MOVQ(param("bias"), bias)
	MOVQ(param("vectors"), left)
	if set.bytes == 32 {
		SHLQ(operand.Imm(1), left)
	}
	Label("vector")
	f.fetchOutputs(rows, col)
	for _, columns := range f.columnGroups() {
		MOVQ(inNow, in)
		for i := range n {
			at := func(k int) operand.Op { return multiple(in, freq, k) }
			for half, j := range columns {
				f.output(m, j, at, r[12], r[half*6+i])
			}
			if i < n-1 {
				for range n / 2 {
					LEAQ(operand.Mem{Base: in, Index: freq[0], Scale: 2}, in)
				}
			}
		}
		for half, j := range columns {
			at := func(k int) operand.Op { return r[half*6+k] }
			for y := range f.Side {
				f.output(m, y, at, r[12], r[13])
				VADDPS(operand.Mem{Base: bias}, r[13], r[13])
				winogradEpilogue(set, r[13], r[14], multiple(rows[y], col, j), apart, fmt.Sprint(j, "_", y))
				VMOVUPS(r[13], multiple(rows[y], col, j))
			}
		}
	}
	for _, p := range append([]reg.GPPhysical{bias}, rows...) {
		ADDQ(operand.Imm(uint64(set.bytes)), p)
	}
	ADDQ(operand.Imm(uint64(set.bytes)), inNow)
	DECQ(left)
	JNE(operand.LabelRef("vector"))
	MOVQ(param("tileStep"), left)
	ADDQ(left, outAt)
	MOVQ(param("mTile"), left)
	ADDQ(left, inAt)
	DECQ(tiles)
	JMP(operand.LabelRef("tile"))
	Label("end")
	VZEROUPPER()
	RET()
}

// columnGroups returns groups of columns of outputs. The products are read once for each group.
func (f winogradForm) columnGroups() [][]int {
	if f.Side == 2 {
		return [][]int{{0, 1}}
	}
	return [][]int{{0, 2}, {1, 3}}
}

// fetchOutputs prefetches the memory that the outputs of a tile will be written to. Small tiles gain
// nothing by it (measured on Zen 4).
func (f winogradForm) fetchOutputs(rows, col []reg.GPPhysical) {
	if f.Side < 4 {
		return
	}
	for _, row := range rows {
		for j := range f.Side {
			PREFETCHT0(multiple(row, col, j))
		}
	}
}

// winogradEpilogue applies the epilogue to result r, which is stored at address out. The value to add is
// stored distance bytes after out. name makes the labels unique.
func winogradEpilogue(set isa, r, free reg.VecPhysical, out, distance operand.Mem, name string) {
	at := reg.R15
	CMPQ(param("plus"), operand.Imm(0))
	JE(operand.LabelRef("bounds" + name))
	LEAQ(out, at)
	ADDQ(distance, at)
	VADDPS(operand.Mem{Base: at}, r, r)
	Label("bounds" + name)
	MOVQ(param("most"), at)
	TESTQ(at, at)
	JE(operand.LabelRef("write" + name))
	set.zero(free)
	VMAXPS(r, free, r)
	VBROADCASTSS(operand.Mem{Base: at}, free)
	VMINPS(r, free, r)
	Label("write" + name)
}
