package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// held is what a walk has per channel.
type held struct {
	at     reg.GPPhysical
	regs   []reg.VecPhysical
	double bool
	sum    bool // to be written
}

// take returns n vector registers that nobody has.
func (w *walk) take(n int) []reg.VecPhysical {
	w.taken += n
	if w.taken > len(w.regs)-len(w.scratch) {
		panic(fmt.Sprintf("%s: %d vector registers", w.name, w.taken))
	}
	return w.regs[w.taken-n : w.taken]
}

// spare returns n vector registers whose values nobody needs from one column to the next.
func (w *walk) spare(n int) []reg.VecPhysical {
	r := w.take(n)
	w.free = append(w.free, r...)
	return r
}

// doubles returns registers for the float64 that lie at p, a pair for each
// column, which each fetches.
func (w *walk) doubles(p reg.GPPhysical) []reg.VecPhysical {
	return w.hold(held{at: p, regs: w.take(2 * w.columns), double: true})
}

// sum returns the same for float64 that each writes, too.
func (w *walk) sum(p reg.GPPhysical) []reg.VecPhysical {
	return w.hold(held{at: p, regs: w.take(2 * w.columns), double: true, sum: true})
}

// singles returns registers for the float32 that lie at p.
func (w *walk) singles(p reg.GPPhysical) []reg.VecPhysical {
	return w.hold(held{at: p, regs: w.take(w.columns)})
}

// singleSum returns the same for float32 that each writes, too.
func (w *walk) singleSum(p reg.GPPhysical) []reg.VecPhysical {
	return w.hold(held{at: p, regs: w.take(w.columns), sum: true})
}

func (w *walk) hold(h held) []reg.VecPhysical {
	w.held = append(w.held, h)
	return h.regs
}

// memory returns where register i of h belongs.
func (w *walk) memory(h held, i int) operand.Mem {
	m := operand.Mem{Base: h.at, Disp: i * w.bytes}
	if w.wide {
		m.Index, m.Scale = w.channel, 1
	}
	if w.wide && h.double {
		m.Scale = 2
	}
	return m
}

// fetch loads what is held.
func (w *walk) fetch() {
	sort := w.sorter(evenChannels, oddChannels)
	for _, h := range w.held {
		if h.double && w.apart() {
			sort.fetch(w, h)
			continue
		}
		for i, r := range h.regs {
			VMOVUPD(w.memory(h, i), r)
		}
	}
}

// write puts sums back.
func (w *walk) write() {
	sort := w.sorter(firstChannels, lastChannels)
	for _, h := range w.held {
		if !h.sum {
			continue
		}
		if w.apart() {
			sort.write(w, h)
			continue
		}
		for i, r := range h.regs {
			VMOVUPD(r, w.memory(h, i))
		}
	}
}
