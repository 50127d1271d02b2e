package main

import (
	"fmt"
	"slices"
	"strings"
)

// walk is a function over positions that treats v neighbouring vectors of channels. The
// values that it reads and sums per channel are in registers.
type walk struct {
	*file
	v        int
	singles  []string // pointers to values per channel
	sums     int      // number of singles that the function writes back at the end
	rows     []string // pointers to rows
	result   string   // the row that is written, if there is one, and the operand that it is computed from
	made     string
	bounds   []string // names of single numbers
	operands []string // singles and rows that are read
}

// reg returns the register of vector k of an operand.
func (w *walk) reg(name string, k int) int { return slices.Index(w.operands, name)*w.v + k }

// bound returns the register of bounds[i]. If i is len(bounds), it returns a register for a mask.
func (w *walk) bound(i int) int { return len(w.operands)*w.v + i }

// write writes the function. body writes the code for one vector of channels. r returns the register of an
// operand, by its name.
func (w *walk) write(name string, body func(r func(name string) int)) {
	const step, count = 10, 11
	pointers := slices.Concat(w.singles, w.rows)
	w.operands = slices.DeleteFunc(slices.Clone(pointers), func(n string) bool { return n == w.result })
	w.begin(name, pointers)
	w.loads("channels", step, "count", count)
	w.op("LSL $2, R%d, R%d", step, step)
	w.label("position")
	for i, n := range pointers {
		if i >= len(w.singles) && n != w.result {
			w.op("VLD1.P (R%d)(R%d), %s", i, step, vectors(w.reg(n, 0), w.v))
		}
	}
	for k := range w.v {
		body(func(n string) int { return w.reg(n, k) })
	}
	if w.result != "" {
		w.op("VST1.P %s, (R%d)(R%d)", vectors(w.reg(w.made, 0), w.v), slices.Index(pointers, w.result), step)
	}
	w.op("SUBS $1, R%d, R%d", count, count)
	w.op("BNE position")
	for i := range w.sums {
		w.op("VST1 %s, (R%d)", vectors(w.reg(w.singles[i], 0), w.v), i)
	}
	w.op("RET")
}

// begin writes the code before the loop. It loads pointer i into register Ri.
func (w *walk) begin(name string, pointers []string) {
	params := append(slices.Clone(pointers), w.bounds...)
	for i := range params {
		if params[i] += " float32"; i < len(pointers) {
			params[i] = pointers[i] + " *float32"
		}
	}
	params = append(params, "channels int", "count int")
	w.function(fmt.Sprintf("%sNEONx%d", name, w.v), strings.Join(params, ", "))
	for i, n := range pointers {
		w.load(n, i)
		if i < len(w.singles) {
			w.op("VLD1 (R%d), %s", i, vectors(w.reg(n, 0), w.v))
		}
	}
	for i, n := range w.bounds {
		w.op("FMOVS %s, F%d", w.param(n), w.bound(i))
		w.op("VDUP V%d.S[0], V%d.S4", w.bound(i), w.bound(i))
	}
}
