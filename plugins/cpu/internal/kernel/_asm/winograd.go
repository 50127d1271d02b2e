package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// winogradForm is a choice of points: 0, plus and minus each of pairs, and
// infinity. kernel/winograd.go states what is computed.
type winogradForm struct {
	side  int // outputs of a tile, along one side
	pairs []float64
}

var winogradForms = []winogradForm{{2, []float64{1}}, {4, []float64{0.75, 1.5}}}

// tile returns the inputs of a tile along one side.
func (f winogradForm) tile() int { return f.side + 2 }

// others returns the square of the pair that is not pair i, and whether there is one.
func (f winogradForm) other(i int) (float64, bool) {
	if len(f.pairs) == 1 {
		return 0, false
	}
	return f.pairs[1-i] * f.pairs[1-i], true
}

// winograd writes the transforms of tiles and weights, and the products between them.
func winograd() {
	c := &constants{made: map[string]operand.Mem{}}
	for _, f := range winogradForms {
		for _, set := range []isa{avx512, avx2} {
			winogradInput(c, set, f)
			winogradOutput(c, set, f)
			winogradWeights(c, set, f)
		}
	}
	for _, n := range []int{2, 1} {
		for p := 14; p > 0; p-- {
			winogradProduct(avx512, n, p)
		}
	}
	for p := 6; p > 0; p-- {
		winogradProduct(avx2, 1, p)
	}
	winogradSpread(avx512)
	winogradSpread(avx2)
}

// constants are numbers in memory, repeated to fill a vector.
type constants struct{ made map[string]operand.Mem }

// single returns eight float32 of this value.
func (c *constants) single(v float64) operand.Mem {
	bits := math.Float32bits(float32(v))
	if float64(float32(v)) != v {
		panic("a constant that is no float32")
	}
	return c.repeat(fmt.Sprintf("winogradSingle%08x", bits), 8, 4, operand.U32(bits))
}

// double returns four float64 of this value.
func (c *constants) double(v float64) operand.Mem {
	bits := math.Float64bits(v)
	return c.repeat(fmt.Sprintf("winogradDouble%016x", bits), 4, 8, operand.U64(bits))
}

func (c *constants) repeat(name string, count, size int, v operand.Constant) operand.Mem {
	if m, ok := c.made[name]; ok {
		return m
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range count {
		DATA(i*size, v)
	}
	c.made[name] = m
	return m
}

// multiplier multiplies by constants, which AVX-512 keeps in registers.
type multiplier struct {
	c    *constants
	set  isa
	temp reg.VecPhysical
	free []reg.VecPhysical
	held map[float64]reg.VecPhysical
}

func newMultiplier(c *constants, set isa, temp int) *multiplier {
	m := &multiplier{c: c, set: set, temp: set.regs[temp], held: map[float64]reg.VecPhysical{}}
	if set.bytes == 64 {
		m.free = set.regs[16:]
	}
	return m
}

// hold loads constants into registers before a loop.
func (m *multiplier) hold(values ...float64) {
	for _, v := range values {
		if _, ok := m.held[v]; ok || len(m.free) == 0 {
			continue
		}
		m.held[v], m.free = m.free[0], m.free[1:]
		VBROADCASTSS(m.c.single(v), m.held[v])
	}
}

// add adds v*x to acc: +-1 is added and subtracted, with the same result.
func (m *multiplier) add(v float64, x, acc reg.VecPhysical) {
	switch {
	case v == 1:
		VADDPS(x, acc, acc)
	case v == -1:
		VSUBPS(x, acc, acc)
	case m.set.bytes == 64:
		VFMADD231PS(m.held[v], x, acc)
	default:
		VFMADD231PS(m.c.single(v), x, acc)
	}
}

// addAt adds v times what lies in memory to acc.
func (m *multiplier) addAt(v float64, x operand.Mem, acc reg.VecPhysical) {
	switch {
	case v == 1:
		VADDPS(x, acc, acc)
	case v == -1:
		VSUBPS(x, acc, acc)
	case m.set.bytes == 64:
		VFMADD231PS(x, m.held[v], acc)
	default:
		VMOVUPS(x, m.temp)
		VFMADD231PS(m.c.single(v), m.temp, acc)
	}
}

// times sets y to v*x.
func (m *multiplier) times(v float64, x, y reg.VecPhysical) {
	if m.set.bytes == 64 {
		VMULPS(m.held[v], x, y)
	} else {
		VMULPS(m.c.single(v), x, y)
	}
}

// all returns the coefficients of x^0 and x^2 of the product of x^2 - p^2 over
// all pairs.
func (f winogradForm) all() []float64 {
	if len(f.pairs) == 1 {
		return []float64{-f.pairs[0] * f.pairs[0]}
	}
	a, b := f.pairs[0]*f.pairs[0], f.pairs[1]*f.pairs[1]
	return []float64{a * b, -(a + b)}
}

// holdInput loads what the transform of tiles multiplies with.
func (f winogradForm) holdInput(m *multiplier) {
	if len(f.pairs) == 1 {
		return
	}
	m.hold(f.all()...)
	for i, p := range f.pairs {
		q, _ := f.other(i)
		m.hold(p, -p, -q)
	}
}

// edge sets acc to the value at 0 (first = 0) or infinity (first = 1) of the
// values at d, of which there are len(all)+1 for either.
func (f winogradForm) edge(m *multiplier, first int, load func(k int, acc reg.VecPhysical),
	add func(v float64, k int, acc reg.VecPhysical), acc reg.VecPhysical) {
	load(first+2*len(f.pairs), acc)
	for i := len(f.pairs) - 1; i >= 0; i-- {
		add(f.all()[i], first+2*i, acc)
	}
}

// half sets acc to the even (first = 2) or odd (first = 1) part of pair i.
func (f winogradForm) half(i, first int, load func(k int, acc reg.VecPhysical),
	add func(v float64, k int, acc reg.VecPhysical), acc reg.VecPhysical) {
	last := f.tile() - 4 + first
	load(last, acc)
	if q, ok := f.other(i); ok {
		add(-q, last-2, acc)
	}
}

// multiple returns the address k steps behind base, given odd multiples of the step.
func multiple(base reg.GPPhysical, odd []reg.GPPhysical, k int) operand.Mem {
	if k == 0 {
		return operand.Mem{Base: base}
	}
	scale := 1
	for k%2 == 0 {
		k, scale = k/2, scale*2
	}
	return operand.Mem{Base: base, Index: odd[k/2], Scale: uint8(scale)}
}

// winogradInput transforms tiles that lie side by side.
func winogradInput(c *constants, set isa, f winogradForm) {
	n := f.tile()
	TEXT(fmt.Sprintf("winogradInput%sf%d", set.name, f.side), NOSPLIT,
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
	// across transforms a row, whose values are given, and stores it.
	across := func(x []reg.VecPhysical, more bool) {
		load := func(k int, acc reg.VecPhysical) { VMOVAPS(x[k], acc) }
		add := func(v float64, k int, acc reg.VecPhysical) { m.add(v, x[k], acc) }
		store := func(j int, y reg.VecPhysical) { VMOVUPS(y, multiple(out, freq, j)) }
		f.edge(m, 0, load, add, r[12])
		store(0, r[12])
		for i, p := range f.pairs {
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
	for i, p := range f.pairs {
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

// holdOutput loads what the way back multiplies with.
func (f winogradForm) holdOutput(m *multiplier) {
	for _, p := range f.pairs {
		for j := 1; j < f.side; j++ {
			if v := math.Pow(p, float64(j)); v != 1 {
				m.hold(v)
			}
		}
	}
}

// back sets acc to output j from the values at the points: at(k) is an operand
// for value k, use two more registers.
func (f winogradForm) back(m *multiplier, j int, at func(k int) operand.Op, s, acc reg.VecPhysical) {
	move := func(k int, r reg.VecPhysical) {
		if x, ok := at(k).(reg.VecPhysical); ok {
			VMOVAPS(x, r)
		} else {
			VMOVUPS(at(k), r)
		}
	}
	for i, p := range f.pairs {
		v := math.Pow(p, float64(j))
		move(1+2*i, s)
		if j%2 == 0 {
			VADDPS(at(2+2*i), s, s)
		} else {
			VSUBPS(at(2+2*i), s, s)
		}
		switch {
		case i > 0:
		case j == 0:
			move(0, acc)
		case j == f.side-1:
			move(f.tile()-1, acc)
		default:
			m.times(v, s, acc)
			continue
		}
		m.add(v, s, acc)
	}
}

// winogradOutput computes the outputs of tiles that lie side by side.
func winogradOutput(c *constants, set isa, f winogradForm) {
	n := f.tile()
	TEXT(fmt.Sprintf("winogradOutput%sf%d", set.name, f.side), NOSPLIT,
		"func(out *float32, rowStep int, colStep int, tileStep int, m *float32, mFreq int, mTile int, "+
			"bias *float32, "+endingParams+", tiles int, vectors int)")
	Pragma("noescape")
	rows := pointers[:f.side]
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
	for i := 1; i < f.side; i++ {
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
	for parity := range 2 {
		MOVQ(inNow, in)
		for i := range n {
			at := func(k int) operand.Op { return multiple(in, freq, k) }
			for j := parity; j < f.side; j += 2 {
				f.back(m, j, at, r[12], r[j/2*6+i])
			}
			if i < n-1 {
				for range n / 2 {
					LEAQ(operand.Mem{Base: in, Index: freq[0], Scale: 2}, in)
				}
			}
		}
		for j := parity; j < f.side; j += 2 {
			at := func(k int) operand.Op { return r[j/2*6+k] }
			for y := range f.side {
				f.back(m, y, at, r[12], r[13])
				VADDPS(operand.Mem{Base: bias}, r[13], r[13])
				winogradEnding(set, r[13], r[14], multiple(rows[y], col, j), apart, fmt.Sprint(j, "_", y))
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

// winogradEnding ends result r, which goes to out; Plus lies apart bytes from
// there. name tells the labels apart.
func winogradEnding(set isa, r, free reg.VecPhysical, out, apart operand.Mem, name string) {
	at := reg.R15
	CMPQ(param("plus"), operand.Imm(0))
	JE(operand.LabelRef("bounds" + name))
	LEAQ(out, at)
	ADDQ(apart, at)
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

// winogradProduct multiplies p tiles with n*16 channels of weights, frequency
// by frequency. Every element is a sum of blocks, each of them one chain. Unless
// ahead is 0 the weights that lie so many bytes behind those in use are fetched.
func winogradProduct(set isa, n, p int) {
	TEXT(fmt.Sprintf("winogradProduct%sx%dp%d", set.name, n, p), NOSPLIT,
		"func(m *float32, mTile int, mFreq int, v *float32, vTile int, vFreq int, u *float32, uStep int, "+
			"uFreq int, freqs int, blocks int, length int, ahead int)")
	Pragma("noescape")
	width := n * set.vectors()
	acc := func(i, v int) reg.VecPhysical { return set.regs[i*width+v] }
	weights := set.regs[p*width:][:width]
	spare := set.regs[(p+1)*width:]
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
	early := m // is free till the end of the block
	loop := func(name string, fetch bool) {
		Label(name)
		for j := range 2 {
			if fetch {
				for line := range n {
					PREFETCHT0(operand.Mem{Base: early, Disp: 64 * line})
				}
				ADDQ(step, early)
			}
			for v, w := range weights {
				VMOVUPS(operand.Mem{Base: u, Disp: set.bytes * v}, w)
			}
			for i := range p {
				at := x.at(i)
				at.Disp = 4 * j
				if width == 1 {
					VFMADD231PS_BCST(at, weights[0], acc(i, 0))
					continue
				}
				b := spare[i%min(len(spare), 2)]
				VBROADCASTSS(at, b)
				for v, w := range weights {
					VFMADD231PS(w, b, acc(i, v))
				}
			}
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

// winogradSpread takes, over the values of two runs, the sum of the absolute
// values and the largest of them, again and again.
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
