package main

// winogradSpread takes, over the values of two runs, the sum of the absolute
// values and the largest of them, again and again: class.BlockSize.
func winogradSpread(f *file) {
	f.function("winogradSpreadNEON",
		"sums *float32, most *uint32, a *float32, b *float32, run int, count int")
	const sums, most, a, b, run, count, k = 0, 1, 2, 3, 4, 5, 6
	for r, name := range []string{"sums", "most", "a", "b", "run", "count"} {
		f.load(name, r)
	}
	const top, values = quads, 2 * quads // behind the sums
	f.label("block")
	f.op("CBZ R%d, end", count)
	for r := range 2 * quads {
		f.zero(r)
	}
	f.op("MOVD R%d, R%d", run, k)
	f.label("some")
	for _, from := range []int{a, b} {
		f.op("VLD1.P 64(R%d), %s", from, vectors(values, quads))
		for v := range quads {
			f.abs(values+v, values+v)
			f.fadd(v, v, values+v)
			f.umax(top+v, top+v, values+v)
		}
	}
	f.op("SUBS $16, R%d, R%d", k, k)
	f.op("BNE some")
	for _, half := range []int{2, 1} {
		for v := range half {
			f.fadd(v, v, v+half)
			f.umax(top+v, top+v, top+v+half)
		}
	}
	f.op("VEXT $8, V0.B16, V0.B16, V1.B16")
	f.fadd(0, 0, 1)
	f.op("VDUP V0.S[1], V1.S4")
	f.fadd(0, 0, 1)
	f.word(0x6eb0a800|top<<5|top, "UMAXV S%d, V%d.4S", top, top)
	f.op("FMOVS.P F0, 4(R%d)", sums)
	f.op("FMOVS.P F%d, 4(R%d)", top, most)
	f.op("SUB $1, R%d, R%d", count, count)
	f.op("B block")
	f.label("end")
	f.op("RET")
}
