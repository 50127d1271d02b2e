package main

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// channels writes the walks over positions with channels, in rows of float32
// and in rows of bfloat16.
func channels() {
	native := rounding{isa: avx512, name: "AVX512BF16", native: true}
	narrow := rounding{isa: avx2, name: "AVX2", exact: true, scratch: ymm[13:16]}
	for _, columns := range []int{4, 2, 1} {
		eachWalk(walk{rounding: rounding{isa: avx512, name: "AVX512"}, columns: columns})
		eachBlocks(walk{rounding: rounding{isa: avx512, name: "AVX512"}, columns: columns})
		(&walk{rounding: rounding{isa: avx512, name: "AVX512"}, columns: columns}).doubleSums()
		eachWalk(walk{rounding: native, columns: columns, half: true})
	}
	for _, wide := range []bool{true, false} {
		eachWalk(walk{rounding: narrow, columns: 1, wide: wide})
		eachWalk(walk{rounding: narrow, columns: 1, wide: wide, half: true})
	}
	eachSum(walk{rounding: narrow, columns: 2})
	for _, columns := range []int{2, 1} {
		eachBlocks(walk{rounding: rounding{isa: avx2, name: "AVX2"}, columns: columns})
		(&walk{rounding: rounding{isa: avx2, name: "AVX2"}, columns: columns}).doubleSums()
	}
	eachSum(walk{rounding: narrow, columns: 2, half: true})
	eachWalk(walk{rounding: rounding{isa: avx512, name: "AVX512"}, columns: 1, masked: true})
	eachWalk(walk{rounding: rounding{isa: avx512, name: "AVX512"}, columns: 1, wide: true})
	eachWalk(walk{rounding: native, columns: 1, wide: true, half: true})
}

// eachWalk writes all walks that have the same registers, columns and type of rows as w.
func eachWalk(w walk) {
	eachSum(w)
	for _, plus := range []bool{false, true} {
		w.normalise(plus)
	}
	w.normaliseGradient()
}

// eachSum writes the walks that compute sums, with the same registers, columns and type of rows as w.
func eachSum(w walk) {
	w.sums()
	if !w.half {
		w.sizes()
	}
	w.deviations()
	w.gradientSums()
	for _, plus := range []bool{false, true} {
		w.maskedSums(plus)
	}
}

// walk is the code around a walk over positions. It processes a few neighbouring columns of channels; a
// column has one channel per lane of a float32 vector. The values that it reads and sums per channel are in
// registers. A walk with wide set passes over all columns of a position, and loads and stores these values
// at each position. A masked walk processes the channels that do not fill a column: mask has a bit for
// each.
type walk struct {
	rounding
	columns int
	wide    bool
	masked  bool
	half    bool // rows are of bfloat16

	offset, count reg.GPPhysical // byte offset of the position from each pointer to rows; positions left
	channel       reg.GPPhysical // in a wide walk, the channel as an offset in bytes of float32
	rows          []reg.GPPhysical
	used          int // number of vector registers in use
	held          []held
}

// parameters are the names of a walk's parameters, by kind.
type parameters struct {
	doubles []string // parameters with float64 for each channel
	singles []string // parameters with float32 for each channel
	rows    []string
	bounds  []string // single numbers of float32
	last    []string // single numbers of the rows' type
}

// begin starts a function. It returns registers with its pointer parameters: first those with values per
// channel, then those to rows.
func (w *walk) begin(name string, p parameters) (channels, rows []reg.GPPhysical) {
	w.used, w.held = 0, nil
	element := "float32"
	if w.half {
		name, element = name+"Half", "uint16"
	}
	signature := ""
	for _, k := range []struct {
		names   []string
		element string
	}{{p.doubles, "*float64"}, {p.singles, "*float32"}, {p.rows, "*" + element}, {p.bounds, "float32"},
		{p.last, element}} {
		if len(k.names) > 0 {
			signature += strings.Join(k.names, ", ") + " " + k.element + ", "
		}
	}
	shape := fmt.Sprintf("x%d", w.columns)
	switch {
	case w.wide:
		shape = "wide"
	case w.masked:
		shape = "masked"
	}
	TEXT(name+w.name+shape, NOSPLIT, "func("+signature+"channels, count int)")
	Pragma("noescape")
	if w.masked {
		MOVQ(param("channels"), reg.RCX)
		ANDQ(operand.Imm(uint64(w.bytes/4-1)), reg.RCX)
		MOVL(operand.U32(1), reg.EAX)
		SHLL(reg.CL, reg.EAX)
		DECL(reg.EAX)
		KMOVW(reg.EAX, mask)
	}
	names := slices.Concat(p.doubles, p.singles, p.rows)
	for i, n := range names {
		MOVQ(param(n), pointers[i])
	}
	free := pointers[len(names):]
	w.offset, w.count, w.channel = free[0], free[1], free[2]
	MOVQ(param("count"), w.count)
	XORQ(w.offset, w.offset)
	if w.half {
		w.constants()
	}
	still := len(names) - len(p.rows)
	w.rows = pointers[still:len(names)]
	return pointers[:still], w.rows
}

// size returns the size in bytes of an element of a row.
func (w *walk) size() int {
	if w.half {
		return 2
	}
	return 4
}

// overColumns writes the loop over positions and the end of the function. body writes the code of a column.
func (w *walk) overColumns(body func(column int)) {
	if w.wide {
		w.eachColumn(body)
	} else {
		step := w.channel
		MOVQ(param("channels"), step)
		SHLQ(operand.Imm(uint64(w.size()/2)), step)
		w.fetch()
		Label("position")
		for column := range w.columns {
			body(column)
		}
		w.prefetch()
		ADDQ(step, w.offset)
		DECQ(w.count)
		JNE(operand.LabelRef("position"))
		w.write()
	}
	VZEROUPPER()
	RET()
}

// eachColumn writes the loops of a wide walk.
func (w *walk) eachColumn(body func(column int)) {
	run, skip := reg.R14, reg.R15 // in bytes: channels in whole columns, as float32; the other channels of a row
	lanes := w.bytes / 4
	MOVQ(param("channels"), run)
	MOVQ(run, skip)
	ANDQ(operand.Imm(uint64(lanes-1)), skip)
	SUBQ(skip, run)
	SHLQ(operand.Imm(2), run)
	SHLQ(operand.Imm(uint64(w.size()/2)), skip)
	Label("position")
	XORQ(w.channel, w.channel)
	Label("column")
	w.fetch()
	body(0)
	w.write()
	w.prefetch()
	ADDQ(operand.Imm(uint64(lanes*w.size())), w.offset)
	ADDQ(operand.Imm(uint64(w.bytes)), w.channel)
	CMPQ(w.channel, run)
	JNE(operand.LabelRef("column"))
	ADDQ(skip, w.offset)
	DECQ(w.count)
	JNE(operand.LabelRef("position"))
}

// prefetch prefetches rows of bfloat16 one page ahead, because the processor's prefetcher stops at the end of
// a page. This makes the passes of a training step a seventh faster. With float32 it would make them a
// little slower.
func (w *walk) prefetch() {
	const page, line = 4096, 64
	if !w.half {
		return
	}
	for _, p := range w.rows {
		for at := 0; at < w.columns*w.bytes/2; at += line {
			PREFETCHT0(operand.Mem{Base: p, Index: w.offset, Scale: 1, Disp: page + at})
		}
	}
}

// broadcast returns a register with the named parameter in all lanes.
func (w *walk) broadcast(name string) reg.VecPhysical {
	r := w.take(1)[0]
	VBROADCASTSS(param(name), r)
	return r
}

// last returns a register with the parameter that values of a row are compared with. For bfloat16 it has
// the parameter's bits, in each lane of AVX2 and in each word of AVX-512.
func (w *walk) last(name string) reg.VecPhysical {
	if !w.half {
		return w.broadcast(name)
	}
	r := w.take(1)[0]
	VPBROADCASTW(param(name), r)
	if !w.native {
		VPSRLD(operand.Imm(16), r, r)
	}
	return r
}

// row returns the address of a column in the row that begins at p.
func (w *walk) row(p reg.GPPhysical, column int) operand.Mem {
	return operand.Mem{Base: p, Index: w.offset, Scale: 1, Disp: column * w.bytes * w.size() / 4}
}

// mask holds a bit for each channel of a masked walk.
var mask = reg.K7

// load writes a load of float32, masked in a masked walk.
func (w *walk) load(src operand.Mem, dst reg.VecPhysical) {
	if w.masked {
		VMOVUPS_Z(src, mask, dst)
		return
	}
	VMOVUPS(src, dst)
}

// store writes a store of float32, masked in a masked walk.
func (w *walk) store(src reg.VecPhysical, dst operand.Mem) {
	if w.masked {
		VMOVUPS(src, mask, dst)
		return
	}
	VMOVUPS(src, dst)
}

// single writes the load of a column of a row, converted to float32.
func (w *walk) single(p reg.GPPhysical, column int, dst reg.VecPhysical) {
	if !w.half {
		w.load(w.row(p, column), dst)
		return
	}
	w.widen(w.row(p, column), dst)
}

// put stores float32 values as a column of a row, and rounds them if the row is bfloat16. free is a
// free register.
func (w *walk) put(x, free reg.VecPhysical, p reg.GPPhysical, column int) {
	if !w.half {
		w.store(x, w.row(p, column))
		return
	}
	w.narrow(number(x), number(free), w.row(p, column))
}

// keep stores float32 values that the type of the row can represent without rounding. free is a spare
// register.
func (w *walk) keep(x, free reg.VecPhysical, p reg.GPPhysical, column int) {
	if !w.half {
		w.store(x, w.row(p, column))
		return
	}
	VPSRLD(operand.Imm(16), x, free)
	w.packed(free, w.row(p, column))
}

// number returns the number of a vector register.
func number(r reg.VecPhysical) int { return int(r.PhysicalIndex()) }
