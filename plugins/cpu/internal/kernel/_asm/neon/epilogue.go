package main

// epilogueParams are the additional parameters of a kernel that ends its results as
// kernel.Epilogue defines: see Epilogue.assembly.
const epilogueParams = "plus *float32, most *float32"

// epilogue writes the epilogue between the bias and the label "write". The given number of results are in
// the first registers. add writes the code that adds the operand at the address plus, which is in R17. free
// is the first of two free registers. Comparing and selecting keep NaN and -0.
func (f *file) epilogue(results, free int, add func()) {
	f.load("plus", 17)
	f.op("CBZ R17, bounds")
	add()
	f.label("bounds")
	f.load("most", 17)
	f.op("CBZ R17, write")
	most, mask := free, free+1
	f.op("VLD1R (R17), [V%d.S4]", most)
	for r := range results {
		f.negative(mask, r)
		f.bic(r, r, mask)
		f.fcmgt(mask, r, most)
		f.bit(r, most, mask)
	}
	f.label("write")
}
