package main

import (
	"encoding/binary"
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// These are the instructions on tiles, which Go's assembler lacks. All are VEX.128.0F38.W0, encoded as
// described in the Intel SDM (volume 2A, 2.3 and 2.4, and the page of each).
const (
	vexNone = 0
	vexF3   = 2
	vexF2   = 3
)

// numbers are the numbers of general registers in instructions.
var numbers = map[reg.GPPhysical]int{
	reg.RAX: 0, reg.RCX: 1, reg.RDX: 2, reg.RBX: 3, reg.RSI: 6, reg.RDI: 7, reg.R8: 8, reg.R9: 9, reg.R10: 10,
	reg.R11: 11,
}

// vex returns the prefix and the opcode; r, x and b are the fourth bits of the
// registers in ModRM.reg, SIB.index and ModRM.rm or SIB.base.
func vex(pp int, opcode byte, v, r, x, b int) []byte {
	inverted := func(n, bit int) byte { return byte(^n>>3&1) << bit }
	return []byte{0xC4, inverted(r, 7) | inverted(x, 6) | inverted(b, 5) | 2, byte(^v&15)<<3 | byte(pp), opcode}
}

// vexTile returns an instruction on registers alone: ModRM.reg, ModRM.rm, VEX.vvvv.
func vexTile(pp int, opcode byte, t, rm, v int) []byte {
	return append(vex(pp, opcode, v, t, 0, rm), byte(3<<6|t&7<<3|rm&7))
}

// vexMemory returns an instruction on a tile and rows in memory. The first row is at base + disp, and
// index holds the distance between rows.
func vexMemory(pp int, opcode byte, t int, base, index reg.GPPhysical, disp int) []byte {
	b, i := numbers[base], numbers[index]
	code := append(vex(pp, opcode, 0, t, i, b), byte(2<<6|t&7<<3|4), byte(i&7<<3|b&7))
	return binary.LittleEndian.AppendUint32(code, uint32(int32(disp)))
}

// vexConfig returns LDTILECFG of the memory at base, which is not RBP, RSP, R12 or R13.
func vexConfig(base reg.GPPhysical) []byte {
	b := numbers[base]
	return append(vex(vexNone, 0x49, 0, 0, 0, b), byte(b&7))
}

// emit writes an instruction as its bytes, after a comment that names it.
func emit(code []byte, format string, args ...any) {
	Comment(fmt.Sprintf(format, args...))
	for ; len(code) >= 4; code = code[4:] {
		put("LONG", operand.U32(binary.LittleEndian.Uint32(code)))
	}
	for _, b := range code {
		put("BYTE", operand.U8(b))
	}
}

func put(directive string, v operand.Op) {
	Instruction(&ir.Instruction{Opcode: directive, Operands: []operand.Op{v}})
}

func ldtilecfg(base reg.GPPhysical) { emit(vexConfig(base), "LDTILECFG (%s)", base.Asm()) }

func tilerelease() { emit(vexTile(vexNone, 0x49, 0, 0, 0), "TILERELEASE") }

func tilezero(t int) { emit(vexTile(vexF2, 0x49, t, 0, 0), "TILEZERO TMM%d", t) }

func tileloadd(t int, base, index reg.GPPhysical, disp int) {
	emit(vexMemory(vexF2, 0x4B, t, base, index, disp), "TILELOADD %d(%s)(%s*1), TMM%d", disp, base.Asm(),
		index.Asm(), t)
}

func tilestored(t int, base, index reg.GPPhysical, disp int) {
	emit(vexMemory(vexF3, 0x4B, t, base, index, disp), "TILESTORED TMM%d, %d(%s)(%s*1)", t, disp, base.Asm(),
		index.Asm())
}

// tdpbf16ps adds to tile dst the products of tiles a and b.
func tdpbf16ps(dst, a, b int) {
	emit(vexTile(vexF3, 0x5C, dst, a, b), "TDPBF16PS TMM%d, TMM%d, TMM%d", b, a, dst)
}
