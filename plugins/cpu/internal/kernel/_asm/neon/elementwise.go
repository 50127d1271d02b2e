package main

import "strings"

// elementwise writes the functions that work element by element, on 16 elements at a time.
func elementwise(f *file) {
	const unary = "y *float32, x *float32, count int"
	const gradient = "dx *float32, y *float32, dy *float32, count int"
	f.elements("reluNEON", unary, func(v int) { f.relu(v, v+8) })
	f.elements("reluGradientNEON", gradient, func(v int) {
		f.positive(v+8, v)
		f.and(v, v+4, v+8)
	})
	f.elements("relu6NEON", unary, func(v int) {
		f.relu(v, v+8)
		f.fcmgt(v+8, v, 16)
		f.bit(v, 16, v+8)
	})
	f.elements("relu6GradientNEON", gradient, func(v int) {
		f.positive(v+8, v)
		f.fcmgt(v+12, 16, v)
		f.and(v+8, v+8, v+12)
		f.and(v, v+4, v+8)
	})
	f.elements("addNEON", "y *float32, a *float32, b *float32, count int", func(v int) { f.fadd(v, v, v+4) })
}

// relu sets negative values of r to 0.
func (f *file) relu(r, mask int) {
	f.negative(mask, r)
	f.bic(r, r, mask)
}

// elements writes a loop over count elements. Registers 0 to 3 hold the elements of the
// first operand and then the results, 4 to 7 the second operand, 16 the number 6. do
// receives the first register of one vector.
func (f *file) elements(name, params string, do func(v int)) {
	f.function(name, params)
	const result, first, second, count = 0, 1, 2, 3
	operands := strings.Split(params, ", ")
	operands = operands[:len(operands)-1]
	for r, p := range operands {
		f.load(strings.Fields(p)[0], r)
	}
	f.load("count", count)
	f.op("FMOVS $6.0, F16")
	f.op("VDUP V16.S[0], V16.S4")
	f.label("some")
	f.op("VLD1.P 64(R%d), %s", first, vectors(0, quads))
	if len(operands) == 3 {
		f.op("VLD1.P 64(R%d), %s", second, vectors(4, quads))
	}
	for v := range quads {
		do(v)
	}
	f.op("VST1.P %s, 64(R%d)", vectors(0, quads), result)
	f.op("SUBS $16, R%d, R%d", count, count)
	f.op("BNE some")
	f.op("RET")
}
