package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// window writes the kernels for all sizes of tiles of Window: p positions by a number of channels.
func window() {
	for _, channels := range []int{8, 16, 24, 32} {
		for _, p := range []int{12, 8, 4, 2, 1} {
			windowTile(avx512, channels, p, false)
		}
	}
	for _, p := range []int{6, 5, 4, 3, 2, 1} {
		windowTile(avx512, 64, p, false)
	}
	for _, p := range []int{12, 8, 4, 2, 1} {
		windowTile(avx2, 8, p, false)
	}
	for _, p := range []int{3, 2, 1} {
		windowTile(avx2, 32, p, false)
	}
	for _, p := range []int{4, 3, 2, 1} {
		windowTile(avx2, 24, p, false)
	}
	for _, resumed := range []bool{false, true} {
		for _, p := range []int{6, 5, 4, 3, 2, 1} {
			windowTile(avx2, 16, p, resumed)
		}
	}
}

// block describes the channels of a tile as vectors of a set. If channels fill only half of a vector of 16,
// a vector of 8 is used. It costs half on a core that splits a vector of 16 into two steps, as Zen 4 does.
type block struct {
	isa
	channels int
}

// columns returns the columns of 16 channels as a part of a name. h stands for half a column.
func (b block) columns() (name string) {
	if b.channels >= 16 {
		name = fmt.Sprint("x", b.channels/16)
	}
	if b.channels%16 != 0 {
		name += "h"
	}
	return name
}

// spread reports whether the weights of a tile are two separate columns of 16 channels. AVX2 has too few
// registers for more than six positions by 16 channels. A tile reads six values that are whole cache lines
// apart, as values of neighbouring pixels are. These are in the same bank of an L1 cache, and some caches
// read two values a cycle only from different banks (Zen 4: such tiles reach 60 to 80 % of the
// multiply-adds of tiles with three positions by 32 channels).
func (b block) spread() bool { return b.bytes == avx2.bytes && b.channels > 16 }

// even reports whether the weights of consecutive values are always 64 bytes (a line) apart.
func (b block) even() bool { return b.bytes == avx2.bytes }

// advance moves w over the weights of n values, unless the code of each value does so.
func (b block) advance(w reg.GPPhysical, n int) {
	if b.even() {
		ADDQ(operand.I32(64*n), w)
	}
}

// unroll returns the number of values of a run that one turn of the loop processes. Spread tiles have the
// most instructions besides multiply-adds.
func (b block) unroll() int {
	if b.spread() {
		return 8
	}
	return 4
}

// lines returns the number of 64-byte lines of a position.
func (b block) lines() int { return (b.channels + 15) / 16 }

// width returns the number of vectors of a position.
func (b block) width() int { return (4*b.channels + b.bytes - 1) / b.bytes }

// vector returns register r in the size of vector v of a position.
func (b block) vector(r reg.VecPhysical, v int) reg.VecPhysical {
	if b.channels%16 != 0 && v == b.width()-1 {
		return r.AsY().(reg.VecPhysical)
	}
	return r
}

// windowTile writes tiles of consecutive positions. Every output element is one chain of
// fused multiply-adds: the outer loop is over taps, the inner one over values of a run.
// With AVX-512, last is the mask of the last vector of channels: other channels are not
// written. Resumed chains start from the values in out.
func windowTile(isa isa, channels, p int, resumed bool) {
	set := block{isa, channels}
	family := "window"
	if resumed {
		family = "resumed"
	}
	TEXT(fmt.Sprintf("%s%s%sp%d", family, set.name, set.columns(), p), NOSPLIT,
		"func(out *float32, outs *int32, in *float32, zero int, offs *int32, offStep int, "+
			"taps int, run int, w *float32, wStep int, column int, bias *float32, "+epilogueParams+
			", last int, next *float32, turns int, tiles int)")
	Pragma("noescape")
	width := set.width()
	accs := p * width
	w, k := reg.R14, reg.R15
	base, left, table := AllocLocal(8), AllocLocal(8), AllocLocal(8)

	if set.bytes == 64 {
		MOVQ(param("last"), k)
		KMOVW(reg.R15L, reg.K1)
	}
	Comment("the runs are walked by an index that rises to zero")
	MOVQ(param("run"), k)
	SHLQ(operand.Imm(2), k)
	ADDQ(param("in"), k)
	MOVQ(k, base)
	ahead := newAhead(set, p)
	ahead.begin()
	if set.spread() {
		MOVQ(param("column"), column)
	}
	Label("tile")
	MOVQ(param("offs"), k)
	MOVQ(k, table)
	early := newEarly(set, p)
	early.begin()
	if resumed {
		MOVQ(param("outs"), k)
		for r := range accs {
			if r%width == 0 {
				MOVLQSX(operand.Mem{Base: k, Disp: 4 * (r / width)}, w)
				ADDQ(param("out"), w)
			}
			VMOVUPS(operand.Mem{Base: w, Disp: set.bytes * (r % width)}, set.regs[r])
		}
		MOVQ(param("w"), w)
	} else {
		MOVQ(param("w"), w)
		set.clear(accs)
	}
	MOVQ(param("taps"), k)
	MOVQ(k, left)

	Label("tap")
	CMPQ(left, operand.Imm(0))
	JE(operand.LabelRef("store"))
	MOVQ(table, k)
	for i := range p {
		resolve(operand.Mem{Base: k, Disp: 4 * i}, pointers[i], base, param("zero"))
	}
	ADDQ(param("offStep"), k)
	MOVQ(k, table)
	MOVQ(param("run"), k)
	NEGQ(k)
	Label("some")
	unroll := set.unroll()
	CMPQ(k, operand.I32(-unroll))
	JG(operand.LabelRef("rest"))
	early.fetch()
	ahead.fetch()
	for j := range unroll {
		windowStep(set, p, j, w, k)
	}
	set.advance(w, unroll)
	ADDQ(operand.Imm(uint64(unroll)), k)
	JMP(operand.LabelRef("some"))
	Label("rest")
	TESTQ(k, k)
	JE(operand.LabelRef("next"))
	windowStep(set, p, 0, w, k)
	set.advance(w, 1)
	INCQ(k)
	JMP(operand.LabelRef("rest"))
	Label("next")
	DECQ(left)
	JMP(operand.LabelRef("tap"))

	Label("store")
	MOVQ(param("bias"), w)
	TESTQ(w, w)
	JE(operand.LabelRef("plus"))
	for r := range accs {
		sum := set.vector(set.regs[r], r%width)
		VADDPS(operand.Mem{Base: w, Disp: set.bytes * (r % width)}, sum, sum)
	}
	Label("plus")
	MOVQ(param("outs"), k)
	// each calls do for the register of every result, with the address of the result relative to base.
	each := func(base string, do func(r reg.VecPhysical, at operand.Mem, masked bool)) {
		for i := range p {
			MOVLQSX(operand.Mem{Base: k, Disp: 4 * i}, w)
			ADDQ(param(base), w)
			for v := range width {
				do(set.vector(set.regs[i*width+v], v), operand.Mem{Base: w, Disp: set.bytes * v},
					set.bytes == 64 && v == width-1)
			}
		}
	}
	set.epilogue(set.regs[:accs], set.regs[accs:], w, func() {
		each("plus", func(r reg.VecPhysical, at operand.Mem, masked bool) {
			if masked {
				VADDPS(at, r, reg.K1, r)
			} else {
				VADDPS(at, r, r)
			}
		})
	})
	each("out", func(r reg.VecPhysical, at operand.Mem, masked bool) {
		if masked {
			VMOVUPS(r, reg.K1, at)
		} else {
			VMOVUPS(r, at)
		}
	})
	DECQ(param("tiles"))
	JE(operand.LabelRef("end"))
	ADDQ(operand.Imm(uint64(4*p)), param("offs"))
	ADDQ(operand.Imm(uint64(4*p)), param("outs"))
	JMP(operand.LabelRef("tile"))
	Label("end")
	VZEROUPPER()
	RET()
}

// early prefetches the values that a tile will add to its results, one position at each
// turn of the loop, so that they do not delay the loop's loads. With AVX2, and for 64
// channels, it also prefetches the destination of the results, so that the next tile does
// not wait for the writes (measured on Zen 3 and Zen 4). It assumes evenly spaced
// positions. Tiles of 12 positions have no free registers for it.
type early struct {
	lines                    int // cache lines of a position
	positions                int
	address, step, remaining reg.GPPhysical // of the addends; between positions; number of positions left
	results                  reg.GPPhysical // address of the results; nil: results are not prefetched
}

func newEarly(set block, p int) *early {
	if p == 1 || p+3 > len(pointers) {
		return nil
	}
	e := &early{lines: set.lines(), positions: p, address: pointers[p], step: pointers[p+1],
		remaining: pointers[p+2]}
	if set.bytes == avx2.bytes || set.channels == 64 {
		e.results = pointers[p+3]
	}
	return e
}

// begin writes the code that prepares prefetching for a tile.
func (e *early) begin() {
	if e == nil {
		return
	}
	if e.results == nil {
		XORQ(e.remaining, e.remaining)
		CMPQ(param("plus"), operand.Imm(0))
		JE(operand.LabelRef("nothing"))
	}
	MOVQ(operand.U32(uint32(e.positions)), e.remaining)
	MOVQ(param("outs"), e.step)
	MOVLQSX(operand.Mem{Base: e.step}, e.address)
	MOVLQSX(operand.Mem{Base: e.step, Disp: 4}, e.step)
	SUBQ(e.address, e.step)
	if e.results == nil {
		ADDQ(param("plus"), e.address)
		Label("nothing")
		return
	}
	MOVQ(e.address, e.results)
	ADDQ(param("out"), e.results)
	ADDQ(param("plus"), e.address)
	CMPQ(param("plus"), operand.Imm(0))
	CMOVQEQ(e.results, e.address)
}

// fetch prefetches one position if one is left.
func (e *early) fetch() {
	if e == nil {
		return
	}
	TESTQ(e.remaining, e.remaining)
	JE(operand.LabelRef("fetched"))
	for line := range e.lines {
		PREFETCHT0(operand.Mem{Base: e.address, Disp: 64 * line})
		if e.results != nil {
			PREFETCHT0(operand.Mem{Base: e.results, Disp: 64 * line})
		}
	}
	ADDQ(e.step, e.address)
	if e.results != nil {
		ADDQ(e.step, e.results)
	}
	DECQ(e.remaining)
	Label("fetched")
}

// ahead prefetches the weights for the next call. At each turn of the loop that all tiles have, it
// prefetches as many 64-byte lines as memory can deliver in that time. Only tiles of many channels
// prefetch: they have enough turns for all weights.
type ahead struct {
	address, remaining reg.GPPhysical
	lines              int // number of lines that are prefetched at each turn
}

func newAhead(set block, p int) *ahead {
	switch {
	case p == 1:
		return nil
	case set.bytes == avx2.bytes && set.channels == 16:
		return &ahead{pointers[p+4], pointers[p+5], 1}
	case set.channels == 64:
		return &ahead{pointers[p+4], pointers[p+5], 2}
	}
	return nil
}

// begin writes the code that prepares prefetching for a call.
func (a *ahead) begin() {
	if a == nil {
		return
	}
	MOVQ(param("next"), a.address)
	MOVQ(param("turns"), a.remaining)
}

// fetch prefetches some of the weights that are left.
func (a *ahead) fetch() {
	if a == nil {
		return
	}
	TESTQ(a.remaining, a.remaining)
	JE(operand.LabelRef("ahead"))
	for line := range a.lines {
		PREFETCHT1(operand.Mem{Base: a.address, Disp: 64 * line})
	}
	ADDQ(operand.Imm(uint64(64*a.lines)), a.address)
	DECQ(a.remaining)
	Label("ahead")
}

// column is the distance between the two columns of weights of a tile.
var column = pointers[len(pointers)-1]

// weight returns the address of vector v of the weights of a value.
func (b block) weight(w reg.GPPhysical, v int) operand.Mem {
	at := operand.Mem{Base: w, Disp: b.bytes * v}
	if b.spread() && at.Disp >= 64 {
		at.Disp -= 64
		at.Index, at.Scale = column, 1
	}
	return at
}

// windowStep multiplies value j of the runs of all positions by its weights.
func windowStep(set block, p, j int, w, k reg.GPPhysical) {
	width := set.width()
	outer{
		isa: set.isa, rows: p, width: width, narrow: set.vector,
		sum: func(i, v int) reg.VecPhysical { return set.vector(set.regs[i*width+v], v) },
		weight: func(v int) operand.Mem {
			at := set.weight(w, v)
			if set.even() {
				at.Disp += 64 * j
			}
			return at
		},
		value: func(i int) operand.Mem {
			return operand.Mem{Base: pointers[i], Index: k, Scale: 4, Disp: 4 * j}
		},
	}.add()
	if !set.even() {
		ADDQ(param("wStep"), w)
	}
}
