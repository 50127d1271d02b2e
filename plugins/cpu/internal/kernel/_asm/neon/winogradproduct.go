package main

import "fmt"

// winogradProduct multiplies p tiles with 16 channels of weights, frequency by frequency. Every element is
// a sum of blocks, and each block is one chain. Six tiles use 24 registers for the sums and 6 for values,
// which leaves two for weights: adjacent halves of a column. Unless ahead is 0, it prefetches the weights
// that are ahead bytes after the current ones.
func winogradProduct(f *file, p int) {
	f.function(fmt.Sprintf("winogradProductNEONp%d", p), "m *float32, mTile int, mFreq int, v *float32, "+
		"vTile int, vFreq int, u *float32, uStep int, uFreq int, freqs int, blocks int, length int, ahead int")
	const u, k, at, mTile, vTile, m, v, freqs, block, uAt = 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
	const blocks, length, ahead, vFreq, uFreq, mFreq = 19, 20, 21, 22, 23, 24
	f.loads("mTile", mTile, "vTile", vTile, "m", m, "v", v, "u", uAt, "freqs", freqs, "blocks", blocks,
		"length", length, "ahead", ahead, "vFreq", vFreq, "uFreq", uFreq, "mFreq", mFreq)
	weights, values := p*quads, p*quads+quads/2
	loop := func(name string, fetch bool) {
		f.label(name)
		for i := range p { // register R(i+1) holds the address of tile i
			f.op("VLD1.P 16(R%d), %s", i+1, vectors(values+i, 1))
		}
		for j := range 4 {
			if fetch {
				f.op("PRFM %d(R%d), PLDL1KEEP", 64*j, at)
			}
			for half := 0; half < quads; half += 2 {
				f.op("VLD1.P 32(R%d), %s", u, vectors(weights, 2))
				for o := range 2 {
					for i := range p {
						f.fmla(i*quads+half+o, weights+o, values+i, j)
					}
				}
			}
		}
		if fetch {
			f.op("ADD $256, R%d", at)
		}
		f.op("SUBS $4, R%d, R%d", k, k)
		f.op("BNE %s", name)
	}
	f.label("freq")
	f.op("MOVD R%d, R1", v)
	for i := 1; i < p; i++ {
		f.op("ADD R%d, R%d, R%d", vTile, i, i+1)
	}
	f.op("MOVD R%d, R%d", uAt, u)
	f.op("MOVD R%d, R%d", blocks, block)
	f.label("block")
	for r := range weights {
		f.zero(r)
	}
	f.op("MOVD R%d, R%d", length, k)
	f.op("CBZ R%d, value", ahead)
	f.op("ADD R%d, R%d, R%d", ahead, u, at)
	loop("fetching", true)
	f.op("B sum")
	loop("value", false)
	f.label("sum")
	f.op("CMP R%d, R%d", block, blocks)
	f.op("BEQ write")
	f.op("MOVD R%d, R%d", m, at)
	for i := range p {
		f.op("VLD1.P (R%d)(R%d), %s", at, mTile, vectors(weights, quads))
		for o := range quads {
			f.fadd(i*quads+o, weights+o, i*quads+o)
		}
	}
	f.label("write")
	f.op("MOVD R%d, R%d", m, at)
	for i := range p {
		f.op("VST1.P %s, (R%d)(R%d)", vectors(i*quads, quads), at, mTile)
	}
	f.op("SUBS $1, R%d, R%d", block, block)
	f.op("BNE block")
	f.op("ADD R%d, R%d", vFreq, v)
	f.op("ADD R%d, R%d", uFreq, uAt)
	f.op("ADD R%d, R%d", mFreq, m)
	f.op("SUBS $1, R%d, R%d", freqs, freqs)
	f.op("BNE freq")
	f.op("RET")
}

// winogradSpread writes a loop over blocks. For each block it computes the sum of the absolute values of
// two runs, and the largest absolute value.
func winogradSpread(f *file) {
	f.function("winogradSpreadNEON", "sums *float32, most *uint32, a *float32, b *float32, run int, count int")
	const sums, most, a, b, run, count, k = 0, 1, 2, 3, 4, 5, 6
	const sum, top, x = 0, quads, 2 * quads
	f.loads("sums", sums, "most", most, "a", a, "b", b, "run", run, "count", count)
	f.label("block")
	for r := range x {
		f.zero(r)
	}
	f.op("MOVD R%d, R%d", run, k)
	f.label("run")
	for _, from := range []int{a, b} {
		f.op("VLD1.P 64(R%d), %s", from, vectors(x, quads))
		for v := range quads {
			f.fabs(x+v, x+v)
			f.fadd(sum+v, sum+v, x+v)
			f.umax(top+v, top+v, x+v) // as integers, NaNs are above infinity
		}
	}
	f.op("SUBS $16, R%d, R%d", k, k)
	f.op("BNE run")
	for n := quads / 2; n > 0; n /= 2 {
		for v := range n {
			f.fadd(sum+v, sum+v, sum+v+n)
			f.umax(top+v, top+v, top+v+n)
		}
	}
	for _, bytes := range []int{8, 4} {
		f.op("VEXT $%d, V%d.B16, V%d.B16, V%d.B16", bytes, sum, sum, x)
		f.op("VEXT $%d, V%d.B16, V%d.B16, V%d.B16", bytes, top, top, x+1)
		f.fadd(sum, sum, x)
		f.umax(top, top, x+1)
	}
	f.op("FMOVS.P F%d, 4(R%d)", sum, sums)
	f.op("FMOVS.P F%d, 4(R%d)", top, most)
	f.op("SUBS $1, R%d, R%d", count, count)
	f.op("BNE block")
	f.op("RET")
}
