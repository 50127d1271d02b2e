package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// held is a float32 value per channel that a walk keeps in registers.
type held struct {
	address reg.GPPhysical
	regs    []reg.VecPhysical
	sum     bool // the walk changes the value and writes it back
}

// take returns n free vector registers and reserves them.
func (w *walk) take(n int) []reg.VecPhysical {
	w.used += n
	if w.used > len(w.regs)-len(w.scratch) {
		panic(fmt.Sprintf("%s: %d vector registers", w.name, w.used))
	}
	return w.regs[w.used-n : w.used]
}

// singles returns registers for the numbers at p, one for each column. fetch loads them.
func (w *walk) singles(p reg.GPPhysical) []reg.VecPhysical {
	return w.hold(held{address: p, regs: w.take(w.columns)})
}

// sum does the same as singles, for numbers that the walk also writes back.
func (w *walk) sum(p reg.GPPhysical) []reg.VecPhysical {
	return w.hold(held{address: p, regs: w.take(w.columns), sum: true})
}

func (w *walk) hold(h held) []reg.VecPhysical {
	w.held = append(w.held, h)
	return h.regs
}

// memory returns the address from which register i of h is loaded.
func (w *walk) memory(h held, i int) operand.Mem {
	m := operand.Mem{Base: h.address, Disp: i * w.bytes}
	if w.wide {
		m.Index, m.Scale = w.channel, 1
	}
	return m
}

// fetch writes the loads of all held values.
func (w *walk) fetch() {
	for _, h := range w.held {
		for i, r := range h.regs {
			w.load(w.memory(h, i), r)
		}
	}
}

// write writes the stores of the held values that the walk changes.
func (w *walk) write() {
	for _, h := range w.held {
		for i, r := range h.regs {
			if h.sum {
				w.store(r, w.memory(h, i))
			}
		}
	}
}
