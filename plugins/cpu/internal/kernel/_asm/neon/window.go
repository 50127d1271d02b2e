package main

import "fmt"

// quads is the number of registers that hold 16 channels.
const quads = 4

// window writes the tiles of Window: p positions by 16 channels. Five positions use 20
// registers for the sums and 9 for weights and inputs.
func window(f *file) {
	for p := 5; p > 0; p-- {
		windowTile(f, p)
	}
}

// windowTile writes tiles of consecutive positions. Every element is one chain of fused
// multiply-adds: the outer loop is over taps, the inner one over values of a run.
func windowTile(f *file, p int) {
	f.function(fmt.Sprintf("windowNEONp%d", p), "out *float32, outs *int32, in *float32, zero int, "+
		"offs *int32, offStep int, taps int, run int, w *float32, wStep int, column int, bias *float32, "+
		epilogueParams+", last int, next *float32, turns int, tiles int")
	const w, wStep, k, tap, table, offStep, in, zero, at, outs = 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	const offs, tiles, run, taps = 19, 20, 21, 22
	weights, values := p*quads, p*quads+quads
	f.loads("outs", outs, "in", in, "zero", zero, "offs", offs, "offStep", offStep,
		"wStep", wStep, "tiles", tiles, "run", run, "taps", taps)
	f.label("tile")
	f.op("MOVD R%d, R%d", offs, table)
	f.load("w", w)
	for r := range weights {
		f.zero(r)
	}
	f.op("MOVD R%d, R%d", taps, tap)

	f.label("tap")
	f.op("CBZ R%d, store", tap)
	for i := range p { // register R(i+1) holds the address of run i
		f.op("MOVW %d(R%d), R%d", 4*i, table, at)
		f.op("CMP $0, R%d", at)
		f.op("CSEL LT, R%d, R%d, R%d", zero, at, at)
		f.op("ADD R%d, R%d, R%d", in, at, i+1)
	}
	f.op("ADD R%d, R%d", offStep, table)
	f.op("SUBS $4, R%d, R%d", run, k)
	f.op("BLT rest")
	f.label("four")
	for i := range p {
		f.op("VLD1.P 16(R%d), %s", i+1, vectors(values+i, 1))
	}
	for j := range 4 {
		f.op("VLD1.P (R%d)(R%d), %s", w, wStep, vectors(weights, quads))
		for i := range p {
			for v := range quads {
				f.fmla(i*quads+v, weights+v, values+i, j)
			}
		}
	}
	f.op("SUBS $4, R%d, R%d", k, k)
	f.op("BGE four")
	f.label("rest")
	f.op("ADDS $4, R%d, R%d", k, k)
	f.op("BEQ next")
	f.label("one")
	f.op("VLD1.P (R%d)(R%d), %s", w, wStep, vectors(weights, quads))
	for i := range p {
		f.op("FMOVS.P 4(R%d), F%d", i+1, values+i)
		for v := range quads {
			f.fmla(i*quads+v, weights+v, values+i, 0)
		}
	}
	f.op("SUBS $1, R%d, R%d", k, k)
	f.op("BNE one")
	f.label("next")
	f.op("SUB $1, R%d, R%d", tap, tap)
	f.op("B tap")

	f.label("store")
	f.load("bias", at)
	f.op("CBZ R%d, plus", at)
	f.op("VLD1 (R%d), %s", at, vectors(weights, quads))
	for r := range weights {
		f.fadd(r, r, weights+r%quads)
	}
	f.label("plus")
	f.epilogue(weights, weights+quads, func() {
		for i := range p {
			f.op("MOVW %d(R%d), R%d", 4*i, outs, at)
			f.op("ADD R17, R%d, R%d", at, at)
			f.op("VLD1 (R%d), %s", at, vectors(weights, quads))
			for v := range quads {
				f.fadd(i*quads+v, i*quads+v, weights+v)
			}
		}
	})
	f.load("out", 17)
	for i := range p {
		f.op("MOVW %d(R%d), R%d", 4*i, outs, at)
		f.op("ADD R17, R%d, R%d", at, at)
		f.op("VST1 %s, (R%d)", vectors(i*quads, quads), at)
	}
	f.op("ADD $%d, R%d", 4*p, offs)
	f.op("ADD $%d, R%d", 4*p, outs)
	f.op("SUBS $1, R%d, R%d", tiles, tiles)
	f.op("BNE tile")
	f.op("RET")
}
