package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// apart reports whether a column is two registers of float64 for its even and
// its odd channels, rather than for its first and its last. Two bfloat16 that
// share a lane become float32 by a shift and by a mask, where they lie. What is
// held is sorted once: in a wide walk that would be at every column.
func (w *walk) apart() bool { return w.half && w.native && !w.wide }

// spread makes of a column of bfloat16 in the second of two registers float64 in both.
func (w *walk) spread(x []reg.VecPhysical) {
	if !w.apart() {
		VPMOVZXWD(x[1].AsY(), x[0])
		VPSLLD(operand.Imm(16), x[0], x[0])
		w.split(x)
		return
	}
	VPSLLD(operand.Imm(16), x[1].AsY(), x[0].AsY())
	VPANDD(x[1].AsY(), w.odd.AsY(), x[1].AsY())
	VCVTPS2PD(x[0].AsY(), x[0])
	VCVTPS2PD(x[1].AsY(), x[1])
}

// Which of 16 numbers go to the first and the second of two registers, a byte
// for each: those of even and odd channels out of the first and last ones, and back.
const (
	evenChannels  = 0x0e0c0a0806040200
	oddChannels   = 0x0f0d0b0907050301
	firstChannels = 0x0b030a0209010800
	lastChannels  = 0x0f070e060d050c04
)

// sorter sorts the float64 of columns.
type sorter struct{ to [2]reg.VecPhysical }

// sorter returns one, in registers that each column may overwrite.
func (w *walk) sorter(first, second uint64) sorter {
	var s sorter
	if !w.apart() {
		return s
	}
	if missing := 3 - len(w.free); missing > 0 {
		w.spare(missing)
	}
	for i, order := range []uint64{first, second} {
		s.to[i] = w.free[i]
		MOVQ(operand.U64(order), reg.R15)
		VMOVQ(reg.R15, s.to[i].AsX())
		VPMOVZXBQ(s.to[i].AsX(), s.to[i])
	}
	return s
}

// fetch loads a pair of registers for each column.
func (s sorter) fetch(w *walk, h held) {
	t := w.free[2]
	for i := 0; i < len(h.regs); i += 2 {
		VMOVUPD(w.memory(h, i), t)
		for j, order := range s.to {
			VMOVDQA64(order, h.regs[i+j])
			VPERMI2PD(w.memory(h, i+1), t, h.regs[i+j])
		}
	}
}

// write stores them.
func (s sorter) write(w *walk, h held) {
	t := w.free[2]
	for i := 0; i < len(h.regs); i += 2 {
		for j, order := range s.to {
			VMOVDQA64(order, t)
			VPERMI2PD(h.regs[i+1], h.regs[i], t)
			VMOVUPD(t, w.memory(h, i+j))
		}
	}
}
