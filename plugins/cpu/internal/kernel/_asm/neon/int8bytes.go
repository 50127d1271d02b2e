package main

// depthwiseInt8 writes products of the bytes of a window of pixels with separate weights for each
// channel, 16 channels at a time. Weights are [block of 16 channels][tap][16]. Fewer channels at
// the end are stored one by one.
func depthwiseInt8(f *file) {
	f.function("depthwiseInt8NEON", "out *byte, outs *int32, in *byte, pad int, offs *int32, offStep int, "+
		"taps int, w *int8, start *int32, by *float32, most int, zero int, least int, width int, "+
		"positions int, at *[mostTapsInt8]uintptr, spare *byte")
	const out, outs, in, pad, offs, offStep, taps, w, start, by = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
	const width, positions, at, spare, y, left, channel, weights, starts = 10, 11, 12, 13, 14, 15, 16, 17, 19
	const factors, tap, table, address, value, walk = 20, 21, 22, 23, 24, 25
	const x, wx, xs, ws = 4, 5, 6, 16 // registers: bytes of the map, weights, both as 16-bit numbers
	f.loads("out", out, "outs", outs, "in", in, "pad", pad, "offs", offs, "offStep", offStep, "taps", taps,
		"w", w, "start", start, "by", by, "width", width, "positions", positions, "at", at, "spare", spare)
	f.int8Bounds(walk)
	f.op("ADD R%d, R%d", in, pad)
	f.label("position")
	f.op("MOVD R%d, R%d", offs, walk)
	f.op("MOVD R%d, R%d", at, table)
	f.op("MOVD R%d, R%d", taps, tap)
	f.label("resolve") // computes the address that each tap reads
	f.op("MOVW (R%d), R%d", walk, value)
	f.op("ADD R%d, R%d", offStep, walk)
	f.op("ADD R%d, R%d, R%d", value, in, address)
	f.op("CMP $0, R%d", value)
	f.op("CSEL LT, R%d, R%d, R%d", pad, address, address)
	f.op("MOVD.P R%d, 8(R%d)", address, table)
	f.op("SUBS $1, R%d, R%d", tap, tap)
	f.op("BNE resolve")
	f.op("MOVW.P 4(R%d), R%d", outs, value)
	f.op("ADD R%d>>2, R%d, R%d", value, out, y)
	f.op("MOVD R%d, R%d", width, left)
	f.op("MOVD $0, R%d", channel)
	f.op("MOVD R%d, R%d", w, weights)
	f.op("MOVD R%d, R%d", start, starts)
	f.op("MOVD R%d, R%d", by, factors)
	f.label("block")
	f.op("VLD1.P 64(R%d), %s", starts, vectors(0, quads))
	f.op("MOVD R%d, R%d", at, table)
	f.op("MOVD R%d, R%d", taps, tap)
	f.label("tap")
	f.op("MOVD.P 8(R%d), R%d", table, address)
	f.loadAt(x, address, channel)
	f.op("VLD1.P 16(R%d), [V%d.B16]", weights, wx)
	f.unary(0x2f08a400, "UXTL V%d.8H, V%d.8B", xs, x)
	f.unary(0x6f08a400, "UXTL2 V%d.8H, V%d.16B", xs+1, x)
	f.unary(0x0f08a400, "SXTL V%d.8H, V%d.8B", ws, wx)
	f.unary(0x4f08a400, "SXTL2 V%d.8H, V%d.16B", ws+1, wx)
	for i := range 2 {
		operands := uint32(ws+i)<<16 | uint32(xs+i)<<5
		f.word(0x0e608000|operands|uint32(2*i), "SMLAL V%d.4S, V%d.4H, V%d.4H", 2*i, xs+i, ws+i)
		f.word(0x4e608000|operands|uint32(2*i+1), "SMLAL2 V%d.4S, V%d.8H, V%d.8H", 2*i+1, xs+i, ws+i)
	}
	f.op("SUBS $1, R%d, R%d", tap, tap)
	f.op("BNE tap")
	f.op("VLD1.P 64(R%d), %s", factors, vectors(quads, quads))
	for k := range quads {
		f.float(k)
		f.fmul(k, k, quads+k)
	}
	f.steps(0)
	f.op("CMP $16, R%d", left)
	f.op("BLT few")
	f.op("VST1.P [V0.B16], 16(R%d)", y)
	f.op("ADD $16, R%d", channel)
	f.op("SUBS $16, R%d, R%d", left, left)
	f.op("BNE block")
	f.op("B next")
	f.label("few")
	f.op("VST1 [V0.B16], (R%d)", spare)
	f.op("MOVD R%d, R%d", spare, address)
	f.label("byte")
	f.op("MOVBU.P 1(R%d), R%d", address, value)
	f.op("MOVB.P R%d, 1(R%d)", value, y)
	f.op("SUBS $1, R%d, R%d", left, left)
	f.op("BNE byte")
	f.label("next")
	f.op("ADD $4, R%d", offs)
	f.op("SUBS $1, R%d, R%d", positions, positions)
	f.op("BNE position")
	f.op("RET")
}

// sumInt8 writes sums of the bytes of eight channels over at most 256 pixels, which fit 16 bits,
// and adds them to sums of 32 bits.
func sumInt8(f *file) {
	f.function("sumInt8NEON", "sums *int32, x *byte, step int, pixels int, vectors int")
	const sums, x, step, pixels, vectorsLeft, at, left = 0, 1, 2, 3, 4, 5, 6
	f.loads("sums", sums, "x", x, "step", step, "pixels", pixels, "vectors", vectorsLeft)
	f.label("some")
	f.zero(0)
	f.op("MOVD R%d, R%d", x, at)
	f.op("MOVD R%d, R%d", pixels, left)
	f.label("pixel")
	f.op("VLD1 (R%d), [V1.B8]", at)
	f.op("ADD R%d, R%d", step, at)
	f.three(0x2e201000, "UADDW", "8H", 0, 0, 1)
	f.op("SUBS $1, R%d, R%d", left, left)
	f.op("BNE pixel")
	f.op("VLD1 (R%d), %s", sums, vectors(2, 2))
	f.three(0x2e601000, "UADDW", "4S", 2, 2, 0)
	f.three(0x6e601000, "UADDW2", "4S", 3, 3, 0)
	f.op("VST1.P %s, 32(R%d)", vectors(2, 2), sums)
	f.op("ADD $8, R%d", x)
	f.op("SUBS $1, R%d, R%d", vectorsLeft, vectorsLeft)
	f.op("BNE some")
	f.op("RET")
}

// gateInt8 writes products of bytes, above their zero, with factors that are whole numbers: their
// products are exact as float32, too.
func gateInt8(f *file) {
	f.function("gateInt8NEON", "y *byte, a *byte, gate *float32, by float32, at float32, most int, aZero int, "+
		"zero int, least int, vectors int")
	const y, a, gate, vectorsLeft, at = 0, 1, 2, 3, factorB
	f.loads("y", y, "a", a, "gate", gate, "vectors", vectorsLeft)
	f.int8Bounds(4)
	f.broadcast("by", factorA)
	f.broadcast("at", at)
	f.broadcastWhole("aZero", 4, zeroA)
	f.label("some")
	f.bytes(a, 0, zeroA)
	f.op("VLD1.P 64(R%d), %s", gate, vectors(quads, quads))
	for k := range quads {
		f.fmul(k, k, quads+k)
		f.fmul(k, k, factorA)
		f.fadd(k, k, at)
	}
	f.steps(0)
	f.int8End(y, vectorsLeft)
}

// tableInt8 writes the lookup of 64 bytes at once in a table of 256, which fills half of the registers. An
// instruction looks up indices below 64 in a quarter of the table, and leaves the result of others.
func tableInt8(f *file) {
	f.function("tableInt8NEON", "y *byte, x *byte, table *[256]byte, vectors int")
	const y, x, table, vectorsLeft, quarter, results, entries = 0, 1, 2, 3, 4, 8, 16
	f.loads("y", y, "x", x, "table", table, "vectors", vectorsLeft)
	for q := range quads {
		f.op("VLD1.P 64(R%d), %s", table, vectors(entries+quads*q, quads))
	}
	f.op("VMOVI $64, V%d.B16", quarter)
	f.label("some")
	f.op("VLD1.P 64(R%d), %s", x, vectors(0, quads))
	for k := range quads {
		for q := range quads {
			code, name := uint32(0x4e006000), "TBL" // zero for other indices
			if q > 0 {
				code, name = 0x4e007000, "TBX"
				f.three(0x6e208400, "SUB", "16B", k, k, quarter)
			}
			first := entries + quads*q
			f.word(code|uint32(k)<<16|uint32(first)<<5|uint32(results+k), "%s V%d.16B, {V%d.16B-V%d.16B}, V%d.16B",
				name, results+k, first, first+quads-1, k)
		}
	}
	f.op("VST1.P %s, 64(R%d)", vectors(results, quads), y)
	f.op("SUBS $1, R%d, R%d", vectorsLeft, vectorsLeft)
	f.op("BNE some")
	f.op("RET")
}
