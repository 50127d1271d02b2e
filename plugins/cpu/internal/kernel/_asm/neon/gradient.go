package main

import "fmt"

// gradient writes the tiles of Gradient: m values by 16 channels. Six values use 24
// registers for the sums and 6 for the operands.
func gradient(f *file) {
	for _, m := range []int{6, 4, 2, 1} {
		gradientTile(f, m)
	}
}

// gradientTile writes one tile. Every element of sum continues as one chain of
// fused multiply-adds over the positions.
func gradientTile(f *file, m int) {
	f.function(fmt.Sprintf("gradientNEONm%d", m), "sum *float32, sumStep int, in *float32, zero int, "+
		"offs *int32, grad *float32, grads *int32, count int")
	const sum, step, in, zero, offs, grad, grads, count, x, g = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
	for r, name := range []string{"sum", "sumStep", "in", "zero", "offs", "grad", "grads", "count"} {
		f.load(name, r)
	}
	sums, values := m*quads, m*quads+quads
	f.op("MOVD R%d, R%d", sum, x)
	for i := range m {
		f.op("VLD1.P (R%d)(R%d), %s", x, step, vectors(i*quads, quads))
	}
	f.op("CBZ R%d, store", count)
	f.label("position")
	f.op("MOVW.P 4(R%d), R%d", offs, x)
	f.op("MOVW.P 4(R%d), R%d", grads, g)
	f.op("CMP $0, R%d", x)
	f.op("CSEL LT, R%d, R%d, R%d", zero, x, x)
	f.op("ADD R%d, R%d, R%d", grad, g, g)
	f.op("ADD R%d, R%d, R%d", in, x, x)
	f.op("VLD1 (R%d), %s", g, vectors(sums, quads))
	for i, n := 0, 0; i < m; i += n {
		n = f.few(x, 4*i, values+i/4, m-i)
	}
	for i := range m {
		for v := range quads {
			f.fmla(i*quads+v, sums+v, values+i/4, i%4)
		}
	}
	f.op("SUBS $1, R%d, R%d", count, count)
	f.op("BNE position")
	f.label("store")
	for i := range m {
		f.op("VST1 %s, (R%d)", vectors(i*quads, quads), sum)
		f.op("ADD R%d, R%d", step, sum)
	}
	f.op("RET")
}

// few loads up to 4 of the remaining values, as many as one instruction can load, and returns their number.
func (f *file) few(base, offset, v, remaining int) int {
	switch {
	case remaining >= 4:
		f.op("FMOVQ %d(R%d), F%d", offset, base, v)
		return 4
	case remaining >= 2:
		f.op("FMOVD %d(R%d), F%d", offset, base, v)
		return 2
	}
	f.op("FMOVS %d(R%d), F%d", offset, base, v)
	return 1
}
