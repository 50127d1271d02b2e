package main

// These registers hold the best values so far, the current pixel, and two masks.
const (
	best, seen   = 0, quads
	taken, spare = 30, 31
)

// pooling writes the maximum of a window of pixels and its gradient, 16 channels at a time.
func pooling(f *file) {
	maxPool(f)
	maxPoolGradient(f)
}

func maxPool(f *file) {
	const y, x, pixels, taps, channels = 0, 1, 2, 3, 4
	f.function("maxPoolNEON", "y *float32, x *float32, pixels *int32, taps int, channels int")
	f.loads("y", y, "x", x, "pixels", pixels, "taps", taps, "channels", channels)
	f.label("some")
	f.firstPixel(x, pixels)
	f.eachPixel("tap", x, pixels, taps, 1, func() {
		for k := range quads {
			f.take(k)
		}
	})
	f.op("VST1.P %s, 64(R%d)", vectors(best, quads), y)
	f.op("ADD $64, R%d", x)
	f.op("SUBS $16, R%d, R%d", channels, channels)
	f.op("BNE some")
	f.op("RET")
}

func maxPoolGradient(f *file) {
	const dx, x, dy, pixels, taps, channels, at = 0, 1, 2, 3, 4, 5, 6
	const which, g, number, one = 2 * quads, 3 * quads, 16, 17
	f.function("maxPoolGradientNEON",
		"dx *float32, x *float32, dy *float32, pixels *int32, taps int, channels int")
	f.loads("dx", dx, "x", x, "dy", dy, "pixels", pixels, "taps", taps, "channels", channels)
	f.op("MOVD $1, R%d", at)
	f.op("VDUP R%d, V%d.S4", at, one)
	f.label("some")
	f.firstPixel(x, pixels)
	f.zero(number)
	for k := range quads {
		f.zero(which + k)
	}
	f.eachPixel("find", x, pixels, taps, 1, func() {
		f.add(number, number, one)
		for k := range quads {
			f.take(k)
			f.bit(which+k, number, taken)
		}
	})
	f.op("VLD1.P 64(R%d), %s", dy, vectors(g, quads))
	f.zero(number)
	f.eachPixel("give", dx, pixels, taps, 0, func() {
		for k := range quads {
			f.cmeq(taken, which+k, number)
			f.fadd(spare, seen+k, g+k)
			f.bit(seen+k, spare, taken)
		}
		f.op("VST1 %s, (R%d)", vectors(seen, quads), pixelAt)
		f.add(number, number, one)
	})
	f.op("ADD $64, R%d", x)
	f.op("ADD $64, R%d", dx)
	f.op("SUBS $16, R%d, R%d", channels, channels)
	f.op("BNE some")
	f.op("RET")
}

// pixelAt is the register with the address of the current pixel.
const pixelAt = 7

// firstPixel loads the first pixel as the best.
func (f *file) firstPixel(x, pixels int) {
	f.op("MOVW (R%d), R%d", pixels, pixelAt)
	f.op("ADD R%d, R%d", x, pixelAt)
	f.op("VLD1 (R%d), %s", pixelAt, vectors(best, quads))
}

// eachPixel writes a loop that loads each pixel of a window, from number first on.
func (f *file) eachPixel(name string, image, pixels, taps, first int, do func()) {
	const table, left = 8, 9
	f.op("ADD $%d, R%d, R%d", 4*first, pixels, table)
	f.op("SUB $%d, R%d, R%d", first, taps, left)
	f.label(name)
	f.op("CBZ R%d, %sEnd", left, name)
	f.op("MOVW.P 4(R%d), R%d", table, pixelAt)
	f.op("ADD R%d, R%d", image, pixelAt)
	f.op("VLD1 (R%d), %s", pixelAt, vectors(seen, quads))
	do()
	f.op("SUB $1, R%d, R%d", left, left)
	f.op("B %s", name)
	f.label(name + "End")
}

// take replaces elements of the best vector by larger elements of vector k, or by the first NaN.
func (f *file) take(k int) {
	f.fcmeq(taken, seen+k, seen+k)
	f.fcmeq(spare, best+k, best+k)
	f.bic(taken, spare, taken)
	f.fcmgt(spare, seen+k, best+k)
	f.or(taken, taken, spare)
	f.bit(best+k, seen+k, taken)
}
