package main

import "fmt"

// winogradProduct multiplies p tiles with 16 channels of weights, frequency by
// frequency. Every element is a sum of blocks, each of them one chain; a block
// has a multiple of 4 values.
func winogradProduct(f *file, p int) {
	f.function(fmt.Sprintf("winogradProductNEONp%d", p), "m *float32, mTile int, mFreq int, v *float32, "+
		"vTile int, vFreq int, u *float32, uStep int, uFreq int, freqs int, blocks int, length int, ahead int")
	const u, uStep, k, left, vAt, uAt, mAt, freqs, vTile, mTile = 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	const m, blocks, length, vFreq, uFreq, mFreq = 19, 20, 21, 22, 23, 24
	weights, values := p*quads, p*quads+quads
	f.loads("v", vAt, "u", uAt, "m", mAt, "freqs", freqs, "vTile", vTile, "mTile", mTile,
		"uStep", uStep, "blocks", blocks, "length", length, "vFreq", vFreq, "uFreq", uFreq, "mFreq", mFreq)
	f.label("freq")
	f.op("CBZ R%d, end", freqs)
	f.op("MOVD R%d, R1", vAt)
	for i := 1; i < p; i++ {
		f.op("ADD R%d, R%d, R%d", vTile, i, i+1)
	}
	f.op("MOVD R%d, R%d", uAt, u)
	f.op("MOVD R%d, R%d", blocks, left)
	f.label("block")
	for r := range weights {
		f.zero(r)
	}
	f.op("MOVD R%d, R%d", length, k)
	f.label("four")
	for i := range p {
		f.op("VLD1.P 16(R%d), %s", i+1, vectors(values+i, 1))
	}
	for j := range 4 {
		f.op("VLD1.P (R%d)(R%d), %s", u, uStep, vectors(weights, quads))
		for i := range p {
			for v := range quads {
				f.fmla(i*quads+v, weights+v, values+i, j)
			}
		}
	}
	f.op("SUBS $4, R%d, R%d", k, k)
	f.op("BNE four")
	f.op("CMP R%d, R%d", left, blocks)
	f.op("BEQ write")
	f.op("MOVD R%d, R%d", mAt, m)
	for i := range p {
		f.op("VLD1.P (R%d)(R%d), %s", m, mTile, vectors(weights, quads))
		for v := range quads {
			f.fadd(i*quads+v, weights+v, i*quads+v)
		}
	}
	f.label("write")
	f.op("MOVD R%d, R%d", mAt, m)
	for i := range p {
		f.op("VST1.P %s, (R%d)(R%d)", vectors(i*quads, quads), m, mTile)
	}
	f.op("SUBS $1, R%d, R%d", left, left)
	f.op("BNE block")
	f.op("ADD R%d, R%d", vFreq, vAt)
	f.op("ADD R%d, R%d", uFreq, uAt)
	f.op("ADD R%d, R%d", mFreq, mAt)
	f.op("SUB $1, R%d, R%d", freqs, freqs)
	f.op("B freq")
	f.label("end")
	f.op("RET")
}
