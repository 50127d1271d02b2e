package main

import (
	"fmt"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel/_asm/formula"
)

// activation writes loops over contiguous elements, like the generator for amd64. Their
// count is a multiple of 4.
func activation(f *file) {
	for _, of := range formula.All(false) {
		e := &evaluation{file: f, Formula: of}
		e.regs = of.Assign(32, temporaries, func(formula.Step) []formula.Value { return nil })
		e.write()
	}
}

// temporaries is the minimum number of registers for values.
const temporaries = 10

// evaluation writes the loop of a formula. R0 and the registers after it have the addresses of the result,
// the operands and the table of constants, which has 64 bytes for each constant, and then the count.
type evaluation struct {
	*file
	*formula.Formula
	regs  *formula.Registers
	spare []int // registers that a step has taken for constants
}

func (e *evaluation) table() int { return len(e.Operands) + 1 }

func (e *evaluation) write() {
	params := e.Result + " *float32, "
	for _, o := range e.Operands {
		params += o + " *float32, "
	}
	e.function(e.Formula.Name+"NEON", params+"table *float32, n0 float32, n1 float32, count int")
	e.load(e.Result, 0)
	for i, o := range e.Operands {
		e.load(o, 1+i)
	}
	count := e.table() + 1
	e.loads("table", e.table(), "count", count)
	for _, v := range e.regs.Kept() {
		r, _ := e.regs.Of(v)
		if s := e.Steps[v]; s.Op == formula.Number {
			e.op("FMOVS %s, F%d", e.param(fmt.Sprint("n", s.Index)), r)
			e.op("VDUP V%d.S[0], V%d.S4", r, r)
		} else {
			e.constant(r, s)
		}
	}
	e.label("some")
	for i, s := range e.Steps {
		if s.Op != formula.Number && s.Op != formula.Constant {
			e.step(i, s)
		}
	}
	result, _ := e.regs.Of(formula.Value(len(e.Steps) - 1))
	e.op("VST1.P %s, 16(R0)", vectors(result, 1))
	e.op("SUBS $4, R%d, R%d", count, count)
	e.op("BNE some")
	e.op("RET")
}

// constant loads a constant.
func (e *evaluation) constant(r int, s formula.Step) {
	e.word(0x3dc00000|uint32(4*s.Index)<<10|uint32(e.table())<<5|uint32(r), "LDR Q%d, [X%d, #%d]",
		r, e.table(), 64*s.Index)
}

// register returns the register of a value. If a constant has no register, it gets one for this step.
func (e *evaluation) register(v formula.Value) int {
	if r, ok := e.regs.Of(v); ok {
		return r
	}
	r := e.regs.Take()
	e.spare = append(e.spare, r)
	e.constant(r, e.Steps[v])
	return r
}

// step writes the instructions of step i.
func (e *evaluation) step(i int, s formula.Step) {
	in := make([]int, len(s.Args))
	for k, v := range s.Args {
		in[k] = e.register(v)
	}
	to := -1
	switch over, ok := overwrites[s.Op]; {
	case ok && e.regs.Dies(s.Args[over], i) && !again(s.Args, over):
		to = in[over]
	case ok:
		to = e.regs.Take()
		e.move(to, in[over])
	case s.Op == formula.Least || s.Op == formula.Most:
		to = e.regs.Take()
	}
	e.regs.End(i, to)
	if to < 0 {
		to = e.regs.Take()
	}
	e.regs.Set(formula.Value(i), to)
	e.operation(s, in, to)
	for _, r := range e.spare {
		e.regs.Free(r)
	}
	e.spare = nil
}

// overwrites maps operations that overwrite one of their arguments to the index of that argument.
var overwrites = map[formula.Op]int{formula.MultiplyAdd: 2, formula.MultiplySubtract: 2, formula.Select: 0}

// again reports whether args has the value of argument i more than once.
func again(args []formula.Value, i int) bool {
	for k, v := range args {
		if k != i && v == args[i] {
			return true
		}
	}
	return false
}

// operation writes the instruction of a step.
func (e *evaluation) operation(s formula.Step, operands []int, dst int) {
	switch s.Op {
	case formula.Operand:
		e.op("VLD1.P 16(R%d), %s", 1+s.Index, vectors(dst, 1))
	case formula.MultiplyAdd:
		e.multiplyAdd(dst, operands[0], operands[1])
	case formula.MultiplySubtract:
		e.three(0x4ea0cc00, "FMLS", "4S", dst, operands[0], operands[1])
	case formula.Add:
		e.fadd(dst, operands[0], operands[1])
	case formula.Subtract:
		e.fsub(dst, operands[0], operands[1])
	case formula.Multiply:
		e.fmul(dst, operands[0], operands[1])
	case formula.Divide:
		e.three(0x6e20fc00, "FDIV", "4S", dst, operands[0], operands[1])
	case formula.Least:
		e.fcmgt(dst, operands[0], operands[1])
		e.choose(dst, operands[1], operands[0])
	case formula.Most:
		e.fcmgt(dst, operands[1], operands[0])
		e.choose(dst, operands[1], operands[0])
	case formula.Root:
		e.two(0x6ea1f800, "FSQRT", dst, operands[0])
	case formula.Whole:
		e.two([]uint32{0x4e218800, 0x4e219800, 0x4ea18800}[s.Index],
			[]string{"FRINTN", "FRINTM", "FRINTP"}[s.Index], dst, operands[0])
	case formula.Select:
		e.choose(dst, operands[1], operands[2])
	case formula.Less:
		e.fcmgt(dst, operands[1], operands[0])
	case formula.AtLeast:
		e.fcmge(dst, operands[0], operands[1])
	case formula.Equal:
		e.fcmeq(dst, operands[0], operands[1])
	default:
		e.bits(s, operands, dst)
	}
}

// bits writes the instruction of a step that works on bits.
func (e *evaluation) bits(s formula.Step, operands []int, dst int) {
	switch s.Op {
	case formula.Without:
		e.bic(dst, operands[0], operands[1])
	case formula.And, formula.Both:
		e.and(dst, operands[0], operands[1])
	case formula.Or:
		e.or(dst, operands[0], operands[1])
	case formula.AddBits:
		e.add(dst, operands[0], operands[1])
	case formula.SubtractBits:
		e.three(0x6ea08400, "SUB", "4S", dst, operands[0], operands[1])
	case formula.Left:
		e.two(0x4f005400|uint32(32+s.Index)<<16, "SHL", dst, operands[0])
	case formula.Right:
		e.two(0x4f000400|uint32(64-s.Index)<<16, "SSHR", dst, operands[0])
	case formula.Float:
		e.two(0x4e21d800, "SCVTF", dst, operands[0])
	default:
		panic(fmt.Sprint("neon: operation ", s.Op))
	}
}

// two writes an instruction with two vector registers.
func (e *evaluation) two(code uint32, name string, d, n int) {
	e.word(code|uint32(n)<<5|uint32(d), "%s V%d.4S, V%d.4S", name, d, n)
}

// choose replaces a mask in register d: where it is set, by the bits of n, elsewhere by the bits of m.
func (e *evaluation) choose(d, n, m int) { e.three(0x6e601c00, "BSL", "16B", d, n, m) }
