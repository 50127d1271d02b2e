package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// outer is one step of a matrix product: a value of each row times width vectors of weights is added to
// sums in registers.
type outer struct {
	isa
	rows, width int
	sum         func(row, v int) reg.VecPhysical
	weight      func(v int) operand.Mem
	value       func(row int) operand.Mem
	narrow      func(r reg.VecPhysical, v int) reg.VecPhysical // r in the size of vector v; may be nil
}

// add writes the step. Weights stay in registers while the values are loaded one by one. If there are too
// few registers for that, values stay in registers while weights are loaded.
func (o outer) add() {
	spare := o.regs[o.rows*o.width:]
	if o.narrow == nil {
		o.narrow = func(r reg.VecPhysical, _ int) reg.VecPhysical { return r }
	}
	if len(spare) > o.width || o.embeds() {
		o.byRows(spare[:o.width], spare[o.width:])
	} else {
		o.byWeights(spare[:o.rows], spare[o.rows])
	}
}

// embeds reports whether multiply-add instructions read their values from memory and broadcast them.
func (o outer) embeds() bool { return o.bytes == avx512.bytes && o.width == 1 }

// byRows writes the step with all weights in registers, row by row.
func (o outer) byRows(weights, spare []reg.VecPhysical) {
	for v, w := range weights {
		VMOVUPS(o.weight(v), o.narrow(w, v))
	}
	for i := range o.rows {
		if o.embeds() {
			VFMADD231PS_BCST(o.value(i), o.narrow(weights[0], 0), o.sum(i, 0))
			continue
		}
		b := spare[i%min(len(spare), 4)]
		VBROADCASTSS(o.value(i), b)
		for v, w := range weights {
			VFMADD231PS(o.narrow(w, v), o.narrow(b, v), o.sum(i, v))
		}
	}
}

// byWeights writes the step with all values in registers, one vector of weights after the other.
func (o outer) byWeights(values []reg.VecPhysical, weight reg.VecPhysical) {
	for i, x := range values {
		VBROADCASTSS(o.value(i), x)
	}
	for v := range o.width {
		VMOVUPS(o.weight(v), o.narrow(weight, v))
		for i, x := range values {
			VFMADD231PS(o.narrow(weight, v), o.narrow(x, v), o.sum(i, v))
		}
	}
}
