package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// int8Tiler writes tiles of Int8 with p positions by n*16 channels, for one way of multiplying bytes. The
// first registers are sums, then come weights, then spare registers.
type int8Tiler struct {
	isa
	name    string
	n, p    int
	factors int8Multiplier
}

// int8Multiplier is a way of multiplying four bytes of a position with four bytes of some
// channels.
type int8Multiplier int

const (
	evexDot  int8Multiplier = iota // VPDPBUSD of AVX-512
	vexDot                         // VPDPBUSD of AVX-VNNI
	byWords                        // VPMADDWD of even and odd bytes, which 16-bit words represent exactly
	sumBytes = 256                 // size in bytes of the sums of a position
)

// int8Products writes the tiles of Int8, with and without matrix units, and the conversion
// of sums to bytes.
func int8Products() {
	for _, t := range []struct {
		isa
		name      string
		by        int8Multiplier
		n         int
		positions []int
	}{
		{avx512, "AVX512VNNI", evexDot, 4, []int{6, 4, 2, 1}},
		{avx512, "AVX512VNNI", evexDot, 2, []int{12, 6, 3, 1}},
		{avx512, "AVX512VNNI", evexDot, 1, []int{12, 6, 3, 1}},
		{avx512, "AVX512Words", byWords, 4, []int{4, 2, 1}},
		{avx512, "AVX512Words", byWords, 2, []int{8, 4, 1}},
		{avx512, "AVX512Words", byWords, 1, []int{12, 4, 1}},
		{avx2, "AVXVNNI", vexDot, 1, []int{6, 3, 1}},
		{avx2, "AVX2Words", byWords, 1, []int{4, 2, 1}},
	} {
		for _, p := range t.positions {
			(&int8Tiler{t.isa, t.name, t.n, p, t.by}).write()
		}
	}
	int8Matrices()
	requantise()
	depthwiseInt8()
	int8Bytes()
}

// width returns the number of vectors of a position.
func (t *int8Tiler) width() int { return t.n * t.vectors() }

// write writes tiles of consecutive positions.
func (t *int8Tiler) write() {
	TEXT(fmt.Sprintf("int8%sx%dp%d", t.name, t.n, t.p), NOSPLIT,
		"func(sums *int32, in *byte, pad int, offs *int32, offStep int, taps int, quads int, "+
			"w *int8, wStep int, start *int32, tiles int)")
	Pragma("noescape")
	w, k := reg.R14, reg.R15
	base, left, table := AllocLocal(8), AllocLocal(8), AllocLocal(8)
	t.constants()
	Comment("the runs are walked by an index that rises to zero")
	MOVQ(param("quads"), k)
	SHLQ(operand.Imm(2), k)
	ADDQ(param("in"), k)
	MOVQ(k, base)
	Label("tile")
	MOVQ(param("start"), k)
	for v := range t.width() {
		t.move(operand.Mem{Base: k, Disp: t.bytes * v}, t.regs[v])
		for i := 1; i < t.p; i++ {
			t.move(t.regs[v], t.regs[i*t.width()+v])
		}
	}
	MOVQ(param("offs"), k)
	MOVQ(k, table)
	MOVQ(param("w"), w)
	MOVQ(param("taps"), k)
	MOVQ(k, left)

	Label("tap")
	CMPQ(left, operand.Imm(0))
	JE(operand.LabelRef("store"))
	MOVQ(table, k)
	for i := range t.p {
		resolve(operand.Mem{Base: k, Disp: 4 * i}, pointers[i], base, param("pad"))
	}
	ADDQ(param("offStep"), k)
	MOVQ(k, table)
	MOVQ(param("quads"), k)
	NEGQ(k)
	JE(operand.LabelRef("next"))
	Label("quad")
	t.quad(w, k)
	ADDQ(param("wStep"), w)
	INCQ(k)
	JNE(operand.LabelRef("quad"))
	Label("next")
	DECQ(left)
	JMP(operand.LabelRef("tap"))

	Label("store")
	MOVQ(param("sums"), k)
	for i := range t.p {
		for v := range t.width() {
			t.move(t.regs[i*t.width()+v], operand.Mem{Base: k, Disp: sumBytes*i + t.bytes*v})
		}
	}
	DECQ(param("tiles"))
	JE(operand.LabelRef("end"))
	ADDQ(operand.Imm(uint64(4*t.p)), param("offs"))
	ADDQ(operand.U32(uint64(sumBytes*t.p)), param("sums"))
	JMP(operand.LabelRef("tile"))
	Label("end")
	VZEROUPPER()
	RET()
}

// move copies a vector of integers.
func (t *int8Tiler) move(src, dst operand.Op) {
	if t.bytes == 64 {
		VMOVDQU32(src, dst)
	} else {
		VMOVDQU(src, dst)
	}
}

// constants makes the mask of even bytes, in the last register.
func (t *int8Tiler) constants() {
	if t.factors != byWords {
		return
	}
	t.evenBytes(t.mask())
}

// evenBytes writes the code that sets a register to the mask of even bytes.
func (t *int8Tiler) evenBytes(mask reg.VecPhysical) {
	if t.bytes == 64 {
		VPTERNLOGD(operand.Imm(0xff), mask, mask, mask)
	} else {
		VPCMPEQD(mask, mask, mask)
	}
	VPSRLW(operand.Imm(8), mask, mask)
}

func (t *int8Tiler) mask() reg.VecPhysical { return t.regs[len(t.regs)-1] }

// quad multiplies a quad (four bytes) of each position with its weights.
func (t *int8Tiler) quad(w, k reg.GPPhysical) {
	accs, width := t.p*t.width(), t.width()
	x := func(i int) operand.Mem { return operand.Mem{Base: pointers[i], Index: k, Scale: 4} }
	y := func(v int) operand.Mem { return operand.Mem{Base: w, Disp: t.bytes * v} }
	if t.factors == byWords {
		t.quadWords(x, y)
		return
	}
	for v := range width {
		t.move(y(v), t.regs[accs+v])
	}
	spare := accs + width
	for i := range t.p {
		b := spare + i%min(len(t.regs)-spare, 4)
		VPBROADCASTD(x(i), t.regs[b])
		for v := range width {
			t.dot(accs+v, b, i*width+v)
		}
	}
}

// dot multiplies the unsigned bytes of x by the signed bytes of w and adds the products to dst.
func (t *int8Tiler) dot(w, x, dst int) {
	if t.factors == evexDot {
		Instruction(&ir.Instruction{Opcode: "VPDPBUSD", Operands: []operand.Op{zmm[w], zmm[x], zmm[dst]}})
		return
	}
	code := append(vex(1, 0x50, x, dst, 0, w), byte(3<<6|dst&7<<3|w&7))
	code[2] |= 1 << 2
	emit(code, "VPDPBUSD Y%d, Y%d, Y%d", w, x, dst)
}

// quadWords multiplies even and odd bytes separately. The products of words fit in double words,
// and so does the sum of two products.
func (t *int8Tiler) quadWords(x, y func(int) operand.Mem) {
	accs, width := t.p*t.width(), t.width()
	even, odd := t.regs[accs:], t.regs[accs+width:]
	xEven, xOdd, product := t.regs[accs+2*width], t.regs[accs+2*width+1], t.regs[accs+2*width+2]
	for v := range width {
		t.move(y(v), odd[v])
		VPSLLW(operand.Imm(8), odd[v], even[v])
		VPSRAW(operand.Imm(8), even[v], even[v])
		VPSRAW(operand.Imm(8), odd[v], odd[v])
	}
	for i := range t.p {
		VPBROADCASTD(x(i), xOdd)
		if t.bytes == 64 {
			VPANDD(xOdd, t.mask(), xEven)
		} else {
			VPAND(xOdd, t.mask(), xEven)
		}
		VPSRLW(operand.Imm(8), xOdd, xOdd)
		for v := range width {
			acc := t.regs[i*width+v]
			VPMADDWD(xEven, even[v], product)
			VPADDD(product, acc, acc)
			VPMADDWD(xOdd, odd[v], product)
			VPADDD(product, acc, acc)
		}
	}
}
