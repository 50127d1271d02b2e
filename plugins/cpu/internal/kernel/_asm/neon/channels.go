package main

// channels writes walks over positions with channels, for 4 vectors of channels at a time and for 1.
func channels(f *file) {
	for _, v := range []int{quads, 1} {
		normalise(f, v, "normalise", []string{"y", "x"})
		normalise(f, v, "normalisePlus", []string{"y", "x", "plus"})
		normaliseGradient(f, v)
		sums(f, v)
		gradientSums(f, v)
		maskedSums(f, v, "maskedSums", []string{"x", "dx", "dy", "y"})
		maskedSums(f, v, "maskedSumsPlus", []string{"x", "dx", "dy", "y", "plus"})
	}
}

// normalise writes ((x - hi) - lo)*by + add, plus the addend, between bounds. Compare and
// select instructions keep NaN and -0.
func normalise(f *file, v int, name string, rows []string) {
	w := walk{file: f, v: v, singles: []string{"hi", "lo", "by", "add"}, rows: rows,
		result: "y", made: "x", bounds: []string{"least", "most"}}
	w.write(name, func(r func(string) int) {
		x, least, most, mask := r("x"), w.bound(0), w.bound(1), w.bound(2)
		f.fsub(x, x, r("hi"))
		f.fsub(x, x, r("lo"))
		f.fmul(x, x, r("by"))
		f.fadd(x, x, r("add"))
		if len(rows) > 2 {
			f.fadd(x, x, r("plus"))
		}
		f.fcmgt(mask, least, x)
		f.bit(x, least, mask)
		f.fcmgt(mask, x, most)
		f.bit(x, most, mask)
	})
}

// normaliseGradient writes by*((dy - add) - ((x - hi) - lo)*slope).
func normaliseGradient(f *file, v int) {
	w := walk{file: f, v: v, singles: []string{"hi", "lo", "by", "add", "slope"},
		rows: []string{"dx", "x", "dy"}, result: "dx", made: "dy"}
	w.write("normaliseGradient", func(r func(string) int) {
		x, dy := r("x"), r("dy")
		f.fsub(x, x, r("hi"))
		f.fsub(x, x, r("lo"))
		f.fmul(x, x, r("slope"))
		f.fsub(dy, dy, r("add"))
		f.fsub(dy, dy, x)
		f.fmul(dy, r("by"), dy)
	})
}

// sums writes three walks: sums of values, of absolute values, and of deviations from a shift.
func sums(f *file, v int) {
	x := []string{"x"}
	w := walk{file: f, v: v, singles: []string{"sum"}, sums: 1, rows: x}
	w.write("sums", func(r func(string) int) { f.fadd(r("sum"), r("sum"), r("x")) })
	w = walk{file: f, v: v, singles: []string{"size", "most"}, sums: 2, rows: x}
	w.write("sizes", func(r func(string) int) {
		f.fabs(r("x"), r("x"))
		f.fadd(r("size"), r("size"), r("x"))
		f.umax(r("most"), r("most"), r("x")) // compared as integers, a NaN is larger than infinity
	})
	w = walk{file: f, v: v, singles: []string{"sum", "squares", "shift"}, sums: 2, rows: x}
	w.write("deviations", func(r func(string) int) {
		f.fsub(r("x"), r("x"), r("shift"))
		f.fadd(r("sum"), r("sum"), r("x"))
		f.fmul(r("x"), r("x"), r("x"))
		f.fadd(r("squares"), r("squares"), r("x"))
	})
}

// gradientSums writes the sums of a gradient dy, and of its products with x - shift.
func gradientSums(f *file, v int) {
	w := walk{file: f, v: v, singles: []string{"s1", "s2", "shift"}, sums: 2, rows: []string{"x", "dy"}}
	w.write("gradientSums", func(r func(string) int) { f.gradientSum(r) })
}

// gradientSum adds one vector of dy, and its product with x - shift, to the two sums.
func (f *file) gradientSum(r func(string) int) {
	f.fadd(r("s1"), r("s1"), r("dy"))
	f.fsub(r("x"), r("x"), r("shift"))
	f.fmul(r("x"), r("dy"), r("x"))
	f.fadd(r("s2"), r("s2"), r("x"))
}

// maskedSums writes the same sums as gradientSums, of the gradient of an activation. It is dy, plus the
// addend if there is one, where y is above 0 and below most, and 0 elsewhere.
func maskedSums(f *file, v int, name string, rows []string) {
	w := walk{file: f, v: v, singles: []string{"s1", "s2", "shift"}, sums: 2, rows: rows,
		result: "dx", made: "dy", bounds: []string{"most"}}
	w.write(name, func(r func(string) int) {
		dy, y, mask := r("dy"), r("y"), w.bound(1)
		if len(rows) > 4 {
			f.fadd(dy, dy, r("plus"))
		}
		f.positive(mask, y)
		f.fcmge(y, y, w.bound(0))
		f.bic(mask, mask, y)
		f.and(dy, dy, mask)
		f.gradientSum(r)
	})
}
