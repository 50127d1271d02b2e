package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// epilogueParams are the additional parameters of a kernel that ends its results as
// kernel.Epilogue defines: see Epilogue.assembly.
const epilogueParams = "plus *float32, most *float32"

// epilogue writes the code between the bias and the label "write". add writes the code that adds the values
// at plus; address is a register for their address. free are two free registers.
func (i isa) epilogue(results, free []reg.VecPhysical, address reg.GPPhysical, add func()) {
	MOVQ(param("plus"), address)
	TESTQ(address, address)
	JE(operand.LabelRef("bounds"))
	add()
	Label("bounds")
	MOVQ(param("most"), address)
	TESTQ(address, address)
	JE(operand.LabelRef("write"))
	i.zero(free[0])
	VBROADCASTSS(operand.Mem{Base: address}, free[1])
	for _, r := range results {
		bound(r, free[0], free[1])
	}
	Label("write")
}

// bound limits r to the range from zero to high. If r is NaN, the result is NaN.
func bound(r, zero, high reg.VecPhysical) {
	VMAXPS(r, zero, r)
	VMINPS(r, high, r)
}
