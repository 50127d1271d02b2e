package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// winogradgradient writes the transform of tiles of a result's gradient, and
// the way back from sums of products to the gradients of kernels.
func winogradgradient() {
	c := &constants{made: map[string]operand.Mem{}}
	for _, f := range winogradForms() {
		for _, set := range []isa{avx512, avx2} {
			winogradSpreadOut(c, set, f)
			winogradTaps(c, set, f)
		}
	}
}

// winogradSpreadOut transforms adjacent tiles of adjacent pixels.
func winogradSpreadOut(c *constants, set isa, f winogradForm) {
	n := f.Tile()
	TEXT(f.name("Gradient", set), NOSPLIT,
		"func(v *float32, vFreq int, vTile int, in *float32, rowStep int, colStep int, tileStep int, "+
			"tiles int, vectors int)")
	Pragma("noescape")
	rows, col, freq := pointers[:f.Side], pointers[4:6], pointers[6:9]
	out, left, inAt, outAt, outNow, tiles := pointers[9], pointers[10], pointers[11], reg.R14, reg.R15,
		AllocLocal(8)
	MOVQ(param("colStep"), col[0])
	LEAQ(operand.Mem{Base: col[0], Index: col[0], Scale: 2}, col[1])
	MOVQ(param("vFreq"), freq[0])
	LEAQ(operand.Mem{Base: freq[0], Index: freq[0], Scale: 2}, freq[1])
	LEAQ(operand.Mem{Base: freq[1], Index: freq[0], Scale: 2}, freq[2])
	MOVQ(param("tiles"), left)
	MOVQ(left, tiles)
	MOVQ(param("in"), inAt)
	MOVQ(param("v"), outAt)
	r := set.regs
	m := newMultiplier(c, set, 15)
	for _, p := range f.Pairs {
		m.hold(p*p, p, -p)
	}
	Label("tile")
	CMPQ(tiles, operand.Imm(0))
	JE(operand.LabelRef("end"))
	MOVQ(inAt, rows[0])
	for i := 1; i < f.Side; i++ {
		MOVQ(rows[i-1], rows[i])
		ADDQ(param("rowStep"), rows[i])
	}
	MOVQ(outAt, outNow)
	MOVQ(param("vectors"), left)
	if set.bytes == 32 {
		SHLQ(operand.Imm(1), left)
	}
	Label("vector")
	MOVQ(outNow, out)
	// across transforms a row: it stores the values that its polynomial has at all points.
	across := func(x []reg.VecPhysical, more bool) {
		VMOVUPS(x[0], multiple(out, freq, 0))
		for i, p := range f.Pairs {
			for part, acc := range []reg.VecPhysical{r[12], r[13]} {
				VMOVAPS(x[part], acc)
				if f.Side == 4 {
					m.add(p*p, x[part+2], acc)
				}
			}
			VMOVAPS(r[12], r[14])
			m.add(p, r[13], r[14])
			VMOVUPS(r[14], multiple(out, freq, 1+2*i))
			m.add(-p, r[13], r[12])
			VMOVUPS(r[12], multiple(out, freq, 2+2*i))
		}
		VMOVUPS(x[f.Side-1], multiple(out, freq, n-1))
		if more {
			for range n / 2 {
				LEAQ(operand.Mem{Base: out, Index: freq[0], Scale: 2}, out)
			}
		}
	}
	for j := range f.Side {
		VMOVUPS(multiple(rows[0], col, j), r[j])
	}
	across(r[:f.Side], true)
	for _, p := range f.Pairs {
		for j := range f.Side {
			even, odd := r[j], r[6+j]
			VMOVUPS(multiple(rows[0], col, j), even)
			VMOVUPS(multiple(rows[1], col, j), odd)
			if f.Side == 4 {
				m.addAt(p*p, multiple(rows[2], col, j), even)
				m.addAt(p*p, multiple(rows[3], col, j), odd)
			}
			VMOVAPS(even, r[12])
			m.add(p, odd, r[12])
			m.add(-p, odd, even)
			VMOVAPS(r[12], odd)
		}
		across(r[6:6+f.Side], true)
		across(r[:f.Side], true)
	}
	for j := range f.Side {
		VMOVUPS(multiple(rows[f.Side-1], col, j), r[j])
	}
	across(r[:f.Side], false)
	for _, p := range rows {
		ADDQ(operand.Imm(uint64(set.bytes)), p)
	}
	ADDQ(operand.Imm(uint64(set.bytes)), outNow)
	DECQ(left)
	JNE(operand.LabelRef("vector"))
	ADDQ(param("tileStep"), inAt)
	ADDQ(param("vTile"), outAt)
	DECQ(tiles)
	JMP(operand.LabelRef("tile"))
	Label("end")
	VZEROUPPER()
	RET()
}

// winogradTaps computes the elements of kernels, in float64.
func winogradTaps(c *constants, set isa, f winogradForm) {
	n := f.Tile()
	TEXT(f.name("Taps", set), NOSPLIT,
		"func(taps *float32, tapStep int, sums *float32, sumFreq int, count int)")
	Pragma("noescape")
	rows, freq := pointers[:n], []reg.GPPhysical{pointers[6], pointers[7], pointers[8]}
	taps, at, count := pointers[9], pointers[10], pointers[11]
	MOVQ(param("sumFreq"), freq[0])
	LEAQ(operand.Mem{Base: freq[0], Index: freq[0], Scale: 2}, freq[1])
	LEAQ(operand.Mem{Base: freq[1], Index: freq[0], Scale: 2}, freq[2])
	MOVQ(param("sums"), rows[0])
	for i := 1; i < n; i++ {
		MOVQ(rows[i-1], rows[i])
		for range n / 2 {
			LEAQ(operand.Mem{Base: rows[i], Index: freq[0], Scale: 2}, rows[i])
		}
	}
	MOVQ(param("taps"), taps)
	MOVQ(param("count"), count)
	r := set.regs
	narrow := func() reg.VecPhysical {
		if set.bytes == 64 {
			return reg.Y15
		}
		return reg.X15
	}
	constant := func(v float64) operand.Op {
		if set.bytes == 32 {
			return c.double(v)
		}
		VBROADCASTSD(c.double(v), r[15])
		return r[15]
	}
	// element sets acc to element k of the result. get(i) loads the value at point i.
	element := func(k int, get func(i int, to reg.VecPhysical), acc reg.VecPhysical) {
		switch k {
		case 0:
			get(0, r[12])
			VMULPD(constant(f.Factor(0)), r[12], acc)
		case f.Kernel - 1:
			get(n-1, acc)
		}
		for i, p := range f.Pairs {
			get(1+2*i, r[12])
			get(2+2*i, r[13])
			if k%2 == 1 {
				VSUBPD(r[13], r[12], r[12])
			} else {
				VADDPD(r[13], r[12], r[12])
			}
			v := f.Factor(1 + 2*i)
			for range k {
				v *= p
			}
			if i == 0 && k > 0 && k < f.Kernel-1 {
				VMULPD(constant(v), r[12], acc)
			} else {
				VFMADD231PD(constant(v), r[12], acc)
			}
		}
	}
	step := set.bytes / 2 // a vector of float64 has as many elements as half its bytes of float32
	Label("some")
	TESTQ(count, count)
	JE(operand.LabelRef("end"))
	MOVQ(taps, at)
	if h := (heldTaps{c: c, isa: set, form: f}); h.fit() {
		h.columns(func(i, j int, to reg.VecPhysical) { VCVTPS2PD(multiple(rows[i], freq, j), to) })
		h.rows(func(v reg.VecPhysical) {
			VMOVUPS(v, operand.Mem{Base: at})
			ADDQ(param("tapStep"), at)
		})
		nextTaps(append([]reg.GPPhysical{taps}, rows...), count, step)
		return
	}
	for y := range f.Kernel {
		for j := range n {
			element(y, func(i int, to reg.VecPhysical) { VCVTPS2PD(multiple(rows[i], freq, j), to) }, r[j])
		}
		for x := range f.Kernel {
			element(x, func(i int, to reg.VecPhysical) { VMOVAPD(r[i], to) }, r[14])
			if set.bytes == 64 {
				VCVTPD2PS(r[14], narrow())
			} else {
				VCVTPD2PSY(r[14], narrow())
			}
			VMOVUPS(narrow(), operand.Mem{Base: at})
			ADDQ(param("tapStep"), at)
		}
	}
	nextTaps(append([]reg.GPPhysical{taps}, rows...), count, step)
}

// nextTaps ends the loop and advances to the next elements, step bytes further.
func nextTaps(addresses []reg.GPPhysical, count reg.GPPhysical, step int) {
	for _, p := range addresses {
		ADDQ(operand.Imm(uint64(step)), p)
	}
	SUBQ(operand.Imm(uint64(step/4)), count)
	JMP(operand.LabelRef("some"))
	Label("end")
	VZEROUPPER()
	RET()
}

// heldTaps is the inverse transform with the transformed columns in registers, so that every sum is read
// and converted to float64 only once. Element y of column j is in register y*Tile + j.
type heldTaps struct {
	c *constants
	isa
	form winogradForm
}

// fit reports whether all transformed columns fit into registers, together with the seven more registers
// that computing a column needs.
func (h heldTaps) fit() bool { return h.bytes == 64 && h.form.Kernel*h.form.Tile()+7 <= len(h.regs) }

// values has the values at the points 0 and infinity, and the sum and the difference of the values at each
// pair.
type values struct {
	zero, last reg.VecPhysical
	sums       []reg.VecPhysical
	odds       []reg.VecPhysical
}

// element sets acc to element k.
func (h heldTaps) element(k int, x values, acc reg.VecPhysical) {
	f := h.form
	switch k {
	case 0:
		VMULPD_BCST(h.c.double(f.Factor(0)), x.zero, acc)
	case f.Kernel - 1:
		VMOVAPD(x.last, acc)
	}
	for i, p := range f.Pairs {
		part, v := x.sums[i], f.Factor(1+2*i)
		if k%2 == 1 {
			part = x.odds[i]
		}
		for range k {
			v *= p
		}
		if i == 0 && k > 0 && k < f.Kernel-1 {
			VMULPD_BCST(h.c.double(v), part, acc)
		} else {
			VFMADD231PD_BCST(h.c.double(v), part, acc)
		}
	}
}

// columns transforms the columns. load loads row i of column j.
func (h heldTaps) columns(load func(i, j int, dst reg.VecPhysical)) {
	n := h.form.Tile()
	free := h.regs[h.form.Kernel*n:]
	of := values{free[0], free[1], free[2:4], free[4:6]}
	for j := range n {
		load(0, j, of.zero)
		load(n-1, j, of.last)
		for i := range h.form.Pairs {
			load(1+2*i, j, of.sums[i])
			load(2+2*i, j, free[6])
			VSUBPD(free[6], of.sums[i], of.odds[i])
			VADDPD(free[6], of.sums[i], of.sums[i])
		}
		for y := range h.form.Kernel {
			h.element(y, of, h.regs[y*n+j])
		}
	}
}

// rows transforms the rows and stores the elements.
func (h heldTaps) rows(store func(v reg.VecPhysical)) {
	n := h.form.Tile()
	free := h.regs[h.form.Kernel*n:]
	for y := range h.form.Kernel {
		row := h.regs[y*n:][:n]
		of := values{row[0], row[n-1], free[2:4], free[4:6]}
		for i := range h.form.Pairs {
			VSUBPD(row[2+2*i], row[1+2*i], of.odds[i])
			VADDPD(row[2+2*i], row[1+2*i], of.sums[i])
		}
		for x := range h.form.Kernel {
			h.element(x, of, free[0])
			VCVTPD2PS(free[0], free[0].AsY())
			store(free[0].AsY().(reg.VecPhysical))
		}
	}
}
