package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// zmm and ymm are the vector registers by number.
var (
	zmm = []reg.VecPhysical{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
		reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
		reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
	}
	ymm = []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
	}
	// pointers are the general registers that tiles use for their rows.
	pointers = []reg.GPPhysical{
		reg.RAX, reg.RBX, reg.RCX, reg.RDX, reg.RSI, reg.RDI,
		reg.R8, reg.R9, reg.R10, reg.R11, reg.R12, reg.R13,
	}
)

// isa is one instruction set, with the sizes of tiles that its registers allow.
type isa struct {
	name  string
	regs  []reg.VecPhysical
	bytes int // bytes of one vector
}

var (
	avx512 = isa{"AVX512", zmm, 64}
	avx2   = isa{"AVX2", ymm, 32}
)

// vectors returns how many registers hold 16 channels.
func (i isa) vectors() int { return 64 / i.bytes }

// clear zeroes the first n vector registers.
func (i isa) clear(n int) {
	for _, r := range i.regs[:n] {
		i.zero(r)
	}
}

// zero zeroes a register.
func (i isa) zero(r reg.VecPhysical) {
	if i.bytes == 64 {
		VPXORD(r, r, r)
	} else {
		VXORPS(r, r, r)
	}
}

// param returns the stack slot of a parameter, to be used as an operand.
func param(name string) operand.Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// resolve loads the offset at table into p and turns it into an address:
// base + offset, or base + zero for a negative offset (padding).
func resolve(table operand.Mem, p reg.GPPhysical, base, zero operand.Mem) {
	MOVLQSX(table, p)
	TESTQ(p, p)
	CMOVQLT(zero, p)
	ADDQ(base, p)
}
