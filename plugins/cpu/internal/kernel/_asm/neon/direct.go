package main

import "fmt"

// kernelWidth is the width of the kernels that direct convolutions are made for.
const kernelWidth = 3

// direct writes tiles of p neighbouring positions of a row by 16 channels, and the gradients of
// these tiles. A tile loads every value of the input once for the three positions that read it.
func direct(f *file) {
	for p := 5; p > 0; p-- {
		directTile(f, p)
	}
	directGradient(f)
}

// directTile writes one tile. Every element is one chain of fused multiply-adds:
// kernel rows outside, then the values of a pixel, then the columns of the kernel.
func directTile(f *file, p int) {
	f.function(fmt.Sprintf("directNEONp%d", p), "out *float32, outStep int, in *float32, inStep int, "+
		"rowStep int, rows int, run int, w *float32, bias *float32, "+epilogueParams)
	const k, row, inStep, rowStep, left, w, run, outStep = 8, 10, 11, 12, 13, 19, 20, 21
	f.loads("in", row, "inStep", inStep, "rowStep", rowStep, "rows", left, "w", w, "run", run,
		"outStep", outStep)
	columns := p + kernelWidth - 1 // register R(i+1) holds the address of pixel i
	weights, values := p*quads, p*quads+quads
	for r := range weights {
		f.zero(r)
	}
	// value multiplies one value of each pixel, element e of its register.
	value := func(e int) {
		for j := range kernelWidth {
			f.op("VLD1.P 64(R%d), %s", w, vectors(weights, quads))
			for i := range p {
				for v := range quads {
					f.fmla(i*quads+v, weights+v, values+i+j, e)
				}
			}
		}
	}
	f.label("row")
	f.op("CBZ R%d, store", left)
	f.op("MOVD R%d, R1", row)
	for i := 1; i < columns; i++ {
		f.op("ADD R%d, R%d, R%d", inStep, i, i+1)
	}
	f.op("SUBS $4, R%d, R%d", run, k)
	f.op("BLT rest")
	f.label("four")
	for i := range columns {
		f.op("VLD1.P 16(R%d), %s", i+1, vectors(values+i, 1))
	}
	for e := range 4 {
		value(e)
	}
	f.op("SUBS $4, R%d, R%d", k, k)
	f.op("BGE four")
	f.label("rest")
	f.op("ADDS $4, R%d, R%d", k, k)
	f.op("BEQ next")
	f.label("one")
	for i := range columns {
		f.op("FMOVS.P 4(R%d), F%d", i+1, values+i)
	}
	value(0)
	f.op("SUBS $1, R%d, R%d", k, k)
	f.op("BNE one")
	f.label("next")
	f.op("ADD R%d, R%d", rowStep, row)
	f.op("SUB $1, R%d, R%d", left, left)
	f.op("B row")

	f.label("store")
	f.load("bias", k)
	f.op("CBZ R%d, plus", k)
	f.op("VLD1 (R%d), %s", k, vectors(weights, quads))
	for r := range weights {
		f.fadd(r, r, weights+r%quads)
	}
	f.label("plus")
	f.epilogue(weights, weights+quads, func() {
		for i := range p {
			f.op("VLD1.P (R17)(R%d), %s", outStep, vectors(weights, quads))
			for v := range quads {
				f.fadd(i*quads+v, i*quads+v, weights+v)
			}
		}
	})
	f.load("out", 17)
	for i := range p {
		f.op("VST1.P %s, (R17)(R%d)", vectors(i*quads, quads), outStep)
	}
	f.op("RET")
}

// directGradient continues the sums of 4 values of a pixel, for 8 channels, in
// the three columns of one row of the kernel, over a row of at least two positions.
func directGradient(f *file) {
	const m, width = 4, 2
	f.function("directGradientNEON", "sum *float32, sumStep int, in *float32, inStep int, grad *float32, "+
		"gradStep int, count int")
	const sum, sumStep, in, inStep, grad, gradStep, count, at = 0, 1, 2, 3, 4, 5, 6, 7
	for r, name := range []string{"sum", "sumStep", "in", "inStep", "grad", "gradStep", "count"} {
		f.load(name, r)
	}
	acc := func(j, i int) int { return (j*m + i) * width }
	const values = kernelWidth * (m + 1) * width
	d := func(age int) int { return (kernelWidth*m + age) * width }
	eachSum := func(op func(i, r int)) {
		f.op("MOVD R%d, R%d", sum, at)
		for j := range kernelWidth {
			for i := range m {
				f.op("ADD $%d, R%d, R17", 64*i, at)
				op(i, acc(j, i))
			}
			f.op("ADD R%d, R%d", sumStep, at)
		}
	}
	// pixel adds the products of one pixel with the kernel's columns [from, to).
	pixel := func(from, to int) {
		for age := kernelWidth - 1; age > 0; age-- {
			for v := range width {
				f.move(d(age)+v, d(age-1)+v)
			}
		}
		if from == 0 {
			f.op("VLD1 (R%d), %s", grad, vectors(d(0), width))
			f.op("ADD R%d, R%d", gradStep, grad)
		}
		f.op("VLD1.P (R%d)(R%d), %s", in, inStep, vectors(values, 1))
		for j := from; j < to; j++ {
			for i := range m {
				for v := range width {
					f.fmla(acc(j, i)+v, d(j)+v, values, i)
				}
			}
		}
	}
	eachSum(func(_, r int) { f.op("VLD1 (R17), %s", vectors(r, width)) })
	pixel(0, 1)
	pixel(0, 2)
	f.op("SUB $2, R%d, R%d", count, count)
	f.label("position")
	f.op("CBZ R%d, rest", count)
	pixel(0, kernelWidth)
	f.op("SUB $1, R%d, R%d", count, count)
	f.op("B position")
	f.label("rest")
	pixel(1, kernelWidth)
	pixel(2, kernelWidth)
	eachSum(func(_, r int) { f.op("VST1 %s, (R17)", vectors(r, width)) })
	f.op("RET")
}
