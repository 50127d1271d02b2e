package main

import "fmt"

// Registers of tiles of int8. A position has four registers of sums, or eight without the
// dot product, which are added in pairs at the end.
const (
	int8Sums, int8In, int8Pad, int8Offs, int8Step, int8Taps, int8Quads, int8W = 0, 1, 2, 3, 4, 5, 6, 7
	int8Start, int8Tiles, int8Tap, int8Weights, int8Tables, int8Quad, int8At  = 14, 15, 16, 17, 19, 20, 21

	int8X = 8  // first of the registers with the address that each position reads
	half  = 31 // register with 16 bytes of value 128
)

// int8Products writes the products of bytes, 16 channels at a time, and the rounding of
// their sums to bytes.
//
// The instructions multiply signed bytes. Inverting the highest bit of a map's byte
// subtracts 128 from it. The sums begin with 128 times the sum of the weights to
// compensate.
func int8Products(f *file) {
	for _, positions := range []int{6, 3, 1} {
		int8Tile(f, positions, true)
	}
	for _, positions := range []int{2, 1} {
		int8Tile(f, positions, false)
	}
	requantise(f)
	addInt8(f)
	addJointInt8(f)
	quantizeInt8(f)
	maxPoolInt8(f)
	depthwiseInt8(f)
	sumInt8(f)
	gateInt8(f)
	tableInt8(f)
}

func int8Tile(f *file, positions int, dot bool) {
	name, of := fmt.Sprintf("int8NEONp%d", positions), 2*quads
	if dot {
		name, of = fmt.Sprintf("int8NEONDotp%d", positions), quads
	}
	weights, x, product := positions*of, positions*of+quads, positions*of+quads+1
	f.function(name, "sums *int32, in *byte, pad int, offs *int32, offStep int, taps int, quads int, "+
		"w *int8, wStep int, start *int32, tiles int")
	f.loads("sums", int8Sums, "in", int8In, "pad", int8Pad, "offs", int8Offs, "offStep", int8Step,
		"taps", int8Taps, "quads", int8Quads, "w", int8W, "start", int8Start, "tiles", int8Tiles)
	f.op("ADD R%d, R%d", int8In, int8Pad)
	f.op("VMOVI $128, V%d.B16", half)
	f.label("tile")
	for v := range positions * of {
		f.zero(v)
	}
	f.op("MOVD R%d, R%d", int8W, int8Weights)
	f.op("MOVD R%d, R%d", int8Offs, int8Tables)
	f.op("MOVD R%d, R%d", int8Taps, int8Tap)
	f.op("CBZ R%d, store", int8Tap)
	f.label("tap")
	for p := range positions {
		f.op("MOVW %d(R%d), R%d", 4*p, int8Tables, int8At)
		f.op("ADD R%d, R%d, R%d", int8At, int8In, int8X+p)
		f.op("CMP $0, R%d", int8At)
		f.op("CSEL LT, R%d, R%d, R%d", int8Pad, int8X+p, int8X+p)
	}
	f.op("ADD R%d, R%d", int8Step, int8Tables)
	f.op("MOVD R%d, R%d", int8Quads, int8Quad)
	f.op("CBZ R%d, next", int8Quad)
	f.label("quad")
	f.op("VLD1.P 64(R%d), %s", int8Weights, vectors(weights, quads))
	for p := range positions {
		f.op("VLD1R.P 4(R%d), [V%d.S4]", int8X+p, x)
		f.op("VEOR V%d.B16, V%d.B16, V%d.B16", half, x, x)
		for k := range quads {
			if dot {
				f.three(0x4e809400, "SDOT", "16B", p*of+k, weights+k, x) // four sums of four products
				continue
			}
			f.pairsOf(p*of+2*k, weights+k, x, product+2*(k%2))
		}
	}
	f.op("SUBS $1, R%d, R%d", int8Quad, int8Quad)
	f.op("BNE quad")
	f.label("next")
	f.op("SUBS $1, R%d, R%d", int8Tap, int8Tap)
	f.op("BNE tap")
	f.label("store")
	f.op("VLD1 (R%d), %s", int8Start, vectors(weights, quads))
	for p := range positions {
		for k := range quads {
			if !dot {
				f.three(0x4ea0bc00, "ADDP", "4S", p*of+k, p*of+2*k, p*of+2*k+1)
			}
			f.add(p*of+k, p*of+k, weights+k)
		}
		f.op("ADD $%d, R%d, R%d", 256*p, int8Sums, int8At)
		f.op("VST1 %s, (R%d)", vectors(p*of, quads), int8At)
	}
	f.op("ADD $%d, R%d", 256*positions, int8Sums)
	f.op("ADD $%d, R%d", 4*positions, int8Offs)
	f.op("SUBS $1, R%d, R%d", int8Tiles, int8Tiles)
	f.op("BNE tile")
	f.op("RET")
}

// pairsOf multiplies 16 weights with a quad and adds the products to the pairs of sums in d
// and the following register. One product fits 16 bits; two products of -128 by -128 do
// not, so they are added in 32 bits.
func (f *file) pairsOf(d, w, x, product int) {
	f.word(0x0e20c000|uint32(x)<<16|uint32(w)<<5|uint32(product), "SMULL V%d.8H, V%d.8B, V%d.8B", product, w, x)
	f.word(0x4e20c000|uint32(x)<<16|uint32(w)<<5|uint32(product+1), "SMULL2 V%d.8H, V%d.16B, V%d.16B",
		product+1, w, x)
	for i := range 2 {
		f.word(0x4e606800|uint32(product+i)<<5|uint32(d+i), "SADALP V%d.4S, V%d.8H", d+i, product+i)
	}
}

// These are the registers for rounding. The first three are the zero point, the smallest and the largest
// byte.
const zeros, leasts, mosts, factorA, factorB, zeroA, zeroB = 24, 25, 26, 27, 28, 29, 30

// int8Bounds loads the zero point and the bounds of a result, as 32-bit integers.
func (f *file) int8Bounds(r int) {
	f.load("zero", r)
	f.op("VDUP R%d, V%d.S4", r, zeros)
	f.load("least", r)
	f.op("VDUP R%d, V%d.S4", r, leasts)
	f.load("most", r)
	f.op("VDUP R%d, V%d.S4", r, mosts)
}

// broadcast loads a float32 parameter into all elements of v.
func (f *file) broadcast(name string, v int) {
	f.op("FMOVS %s, F%d", f.param(name), v)
	f.op("VDUP V%d.S[0], V%d.S4", v, v)
}

func (f *file) broadcastWhole(name string, r, v int) {
	f.load(name, r)
	f.op("VDUP R%d, V%d.S4", r, v)
}

// unary writes a vector instruction with one operand.
func (f *file) unary(code uint32, text string, d, n int) {
	f.word(code|uint32(n)<<5|uint32(d), text, d, n)
}

// steps rounds four vectors to integers (ties to even, and NaN to 0), adds the zero point and clamps the
// results to the bounds. Nothing wraps around.
func (f *file) steps(v int) {
	for k := v; k < v+quads; k++ {
		f.unary(0x4e21a800, "FCVTNS V%d.4S, V%d.4S", k, k)
		f.three(0x4ea00c00, "SQADD", "4S", k, k, zeros)
		f.three(0x4ea06400, "SMAX", "4S", k, k, leasts)
		f.three(0x4ea06c00, "SMIN", "4S", k, k, mosts)
	}
	f.unary(0x0e612800, "XTN V%d.4H, V%d.4S", v, v)
	f.unary(0x4e612800, "XTN2 V%d.8H, V%d.4S", v, v+1)
	f.unary(0x0e612800, "XTN V%d.4H, V%d.4S", v+2, v+2)
	f.unary(0x4e612800, "XTN2 V%d.8H, V%d.4S", v+2, v+3)
	f.unary(0x0e212800, "XTN V%d.8B, V%d.8H", v, v)
	f.unary(0x4e212800, "XTN2 V%d.16B, V%d.8H", v, v+2)
}

// float converts integers to float32.
func (f *file) float(v int) { f.unary(0x4e21d800, "SCVTF V%d.4S, V%d.4S", v, v) }

// bytes loads 16 bytes as four vectors of float32, and subtracts a zero point.
func (f *file) bytes(address, v, zero int) {
	f.op("VLD1.P 16(R%d), [V%d.B16]", address, v+3)
	f.unary(0x2f08a400, "UXTL V%d.8H, V%d.8B", v+1, v+3)
	f.unary(0x6f08a400, "UXTL2 V%d.8H, V%d.16B", v+3, v+3)
	f.unary(0x2f10a400, "UXTL V%d.4S, V%d.4H", v, v+1)
	f.unary(0x6f10a400, "UXTL2 V%d.4S, V%d.8H", v+1, v+1)
	f.unary(0x2f10a400, "UXTL V%d.4S, V%d.4H", v+2, v+3)
	f.unary(0x6f10a400, "UXTL2 V%d.4S, V%d.8H", v+3, v+3)
	for k := v; k < v+quads; k++ {
		f.three(0x6ea08400, "SUB", "4S", k, k, zero)
		f.float(k)
	}
}

// int8End stores 16 bytes and advances to the next.
func (f *file) int8End(y, vectors int) {
	f.op("VST1.P [V0.B16], 16(R%d)", y)
	f.op("SUBS $1, R%d, R%d", vectors, vectors)
	f.op("BNE some")
	f.op("RET")
}

// requantise writes a kernel that multiplies sums by their factors and stores them as bytes.
func requantise(f *file) {
	f.function("requantiseNEON", "y *byte, sums *int32, by *float32, most int, zero int, least int, vectors int")
	const y, sums, by, vectorsLeft = 0, 1, 2, 3
	f.loads("y", y, "sums", sums, "by", by, "vectors", vectorsLeft)
	f.int8Bounds(4)
	f.label("some")
	f.op("VLD1.P 64(R%d), %s", sums, vectors(0, quads))
	f.op("VLD1.P 64(R%d), %s", by, vectors(quads, quads))
	for k := range quads {
		f.float(k)
		f.fmul(k, k, quads+k)
	}
	f.steps(0)
	f.int8End(y, vectorsLeft)
}

func addInt8(f *file) {
	f.function("addInt8NEON", "y *byte, a *byte, b *byte, aBy float32, bBy float32, most int, aZero int, "+
		"bZero int, zero int, least int, vectors int")
	const y, a, b, vectorsLeft = 0, 1, 2, 3
	f.loads("y", y, "a", a, "b", b, "vectors", vectorsLeft)
	f.int8Bounds(4)
	f.broadcast("aBy", factorA)
	f.broadcast("bBy", factorB)
	f.broadcastWhole("aZero", 4, zeroA)
	f.broadcastWhole("bZero", 4, zeroB)
	f.label("some")
	f.bytes(a, 0, zeroA)
	f.bytes(b, quads, zeroB)
	for k := range quads {
		f.fmul(k, k, factorA)
		f.fmul(quads+k, quads+k, factorB)
		f.fadd(k, k, quads+k)
	}
	f.steps(0)
	f.int8End(y, vectorsLeft)
}

// addJointInt8 writes a kernel that adds two maps of bytes, each times a factor. Each product is
// fused with an addition.
func addJointInt8(f *file) {
	f.function("addJointInt8NEON", "y *byte, a *byte, b *byte, aBy float32, bBy float32, at float32, most int, "+
		"zero int, least int, vectors int")
	const y, a, b, vectorsLeft, at, sum = 0, 1, 2, 3, zeroB, 8
	f.loads("y", y, "a", a, "b", b, "vectors", vectorsLeft)
	f.int8Bounds(4)
	f.broadcast("aBy", factorA)
	f.broadcast("bBy", factorB)
	f.broadcast("at", at)
	f.label("some")
	f.bytes(a, 0, zeros)
	f.bytes(b, quads, zeros)
	for k := range quads {
		f.op("VMOV V%d.B16, V%d.B16", at, sum)
		f.multiplyAdd(sum, quads+k, factorB)
		f.multiplyAdd(sum, k, factorA)
		f.op("VMOV V%d.B16, V%d.B16", sum, k)
	}
	f.steps(0)
	f.int8End(y, vectorsLeft)
}

func quantizeInt8(f *file) {
	f.function("quantizeInt8NEON",
		"y *byte, x *float32, scale float32, most int, zero int, least int, vectors int")
	const y, x, vectorsLeft = 0, 1, 3
	f.loads("y", y, "x", x, "vectors", vectorsLeft)
	f.int8Bounds(4)
	f.broadcast("scale", factorA)
	f.label("some")
	f.op("VLD1.P 64(R%d), %s", x, vectors(0, quads))
	for k := range quads {
		f.three(0x6e20fc00, "FDIV", "4S", k, k, factorA)
	}
	f.steps(0)
	f.int8End(y, vectorsLeft)
}

// maxPoolInt8 writes a kernel for the largest bytes of windows. The offsets in pixels are for elements of
// four bytes, so the kernel divides them by 4.
func maxPoolInt8(f *file) {
	f.function("maxPoolInt8NEON", "y *byte, x *byte, pixels *int32, taps int, vectors int")
	const y, x, vectorsLeft, pixels, taps, table, left, at = 0, 1, 3, 4, 5, 6, 7, 8
	f.loads("y", y, "x", x, "pixels", pixels, "taps", taps, "vectors", vectorsLeft)
	f.label("some")
	f.zero(0)
	f.op("MOVD R%d, R%d", pixels, table)
	f.op("MOVD R%d, R%d", taps, left)
	f.op("CBZ R%d, store", left)
	f.label("tap")
	f.op("MOVW.P 4(R%d), R%d", table, at)
	f.op("ADD R%d>>2, R%d, R%d", at, x, at)
	f.op("VLD1 (R%d), [V1.B16]", at)
	f.three(0x6e206400, "UMAX", "16B", 0, 0, 1)
	f.op("SUBS $1, R%d, R%d", left, left)
	f.op("BNE tap")
	f.label("store")
	f.op("ADD $16, R%d", x)
	f.int8End(y, vectorsLeft)
}
