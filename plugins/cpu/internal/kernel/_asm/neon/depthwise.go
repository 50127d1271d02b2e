package main

import "fmt"

// depthwise writes tiles of p positions by v vectors of channels, and the
// gradients of one tap for v vectors of channels.
func depthwise(f *file) {
	for _, v := range []int{quads, 1} {
		for _, p := range []int{4, 1} {
			depthwiseTile(f, v, p)
		}
		depthwiseGradient(f, v)
	}
}

// depthwiseTile writes one tile. Every element is one chain of fused
// multiply-adds over the taps.
func depthwiseTile(f *file, v, p int) {
	f.function(fmt.Sprintf("depthwiseNEONx%dp%d", v, p),
		"out *float32, outs *int32, in *float32, zero int, offs *int32, offStep int, "+
			"taps int, w *float32, wStep int, bias *float32, "+epilogueParams)
	const w, wStep, tap, table, offStep, in, zero, at, outs = 6, 7, 9, 10, 11, 12, 13, 14, 15
	f.loads("outs", outs, "in", in, "zero", zero, "offs", table, "offStep", offStep, "w", w,
		"wStep", wStep, "taps", tap)
	weights, values := p*v, p*v+v
	for r := range weights {
		f.zero(r)
	}
	f.label("tap")
	f.op("CBZ R%d, store", tap)
	f.op("VLD1.P (R%d)(R%d), %s", w, wStep, vectors(weights, v))
	for i := range p {
		f.op("MOVW %d(R%d), R%d", 4*i, table, at)
		f.op("CMP $0, R%d", at)
		f.op("CSEL LT, R%d, R%d, R%d", zero, at, at)
		f.op("ADD R%d, R%d, R%d", in, at, at)
		f.op("VLD1 (R%d), %s", at, vectors(values, v))
		for k := range v {
			f.multiplyAdd(i*v+k, values+k, weights+k)
		}
	}
	f.op("ADD R%d, R%d", offStep, table)
	f.op("SUB $1, R%d, R%d", tap, tap)
	f.op("B tap")

	f.label("store")
	f.load("bias", at)
	f.op("CBZ R%d, plus", at)
	f.op("VLD1 (R%d), %s", at, vectors(weights, v))
	for r := range weights {
		f.fadd(r, r, weights+r%v)
	}
	f.label("plus")
	f.epilogue(weights, values+v, func() {
		for i := range p {
			f.op("MOVW %d(R%d), R%d", 4*i, outs, at)
			f.op("ADD R17, R%d, R%d", at, at)
			f.op("VLD1 (R%d), %s", at, vectors(weights, v))
			for k := range v {
				f.fadd(i*v+k, i*v+k, weights+k)
			}
		}
	})
	f.load("out", 17)
	for i := range p {
		f.op("MOVW %d(R%d), R%d", 4*i, outs, at)
		f.op("ADD R17, R%d, R%d", at, at)
		f.op("VST1 %s, (R%d)", vectors(i*v, v), at)
	}
	f.op("RET")
}

// depthwiseGradient continues the sums of one tap over count positions.
func depthwiseGradient(f *file, v int) {
	f.function(fmt.Sprintf("depthwiseGradientNEONx%dt1", v),
		"sum *float32, sumStep int, in *float32, zero int, offs *int32, offStep int, grad *float32, "+
			"grads *int32, count int")
	const sum, in, zero, offs, grad, grads, count, x, g = 0, 1, 2, 3, 4, 5, 6, 7, 8
	for r, name := range []string{"sum", "in", "zero", "offs", "grad", "grads", "count"} {
		f.load(name, r)
	}
	f.op("VLD1 (R%d), %s", sum, vectors(0, v))
	f.label("position")
	f.op("CBZ R%d, store", count)
	f.op("MOVW.P 4(R%d), R%d", offs, x)
	f.op("MOVW.P 4(R%d), R%d", grads, g)
	f.op("CMP $0, R%d", x)
	f.op("CSEL LT, R%d, R%d, R%d", zero, x, x)
	f.op("ADD R%d, R%d, R%d", in, x, x)
	f.op("ADD R%d, R%d, R%d", grad, g, g)
	f.op("VLD1 (R%d), %s", x, vectors(v, v))
	f.op("VLD1 (R%d), %s", g, vectors(2*v, v))
	for k := range v {
		f.multiplyAdd(k, v+k, 2*v+k)
	}
	f.op("SUB $1, R%d, R%d", count, count)
	f.op("B position")
	f.label("store")
	f.op("VST1 %s, (R%d)", vectors(0, v), sum)
	f.op("RET")
}
