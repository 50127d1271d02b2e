package main

import (
	"fmt"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel/_asm/formula"
)

// activation writes loops over contiguous elements. Their count is a multiple of the lanes.
// Constants are in a table that repeats each value for all lanes of a 64-byte vector.
func activation() {
	for _, set := range []isa{avx512, avx2} {
		for _, f := range formula.All(set.bytes == 64) {
			newEvaluation(set, f).write()
		}
	}
}

// evaluation is the loop of a formula.
type evaluation struct {
	isa
	*formula.Formula
	regs  *formula.Registers
	masks *formula.Registers // mask registers of AVX-512
	rows  []reg.GPPhysical   // pointers to the result and to the operands
	table reg.GPPhysical
	spare []int // registers that a step has taken for constants
}

// temporaries is the minimum number of registers for values other than constants.
const temporaries = 7

func newEvaluation(set isa, f *formula.Formula) *evaluation {
	n := len(f.Operands) + 1
	e := &evaluation{isa: set, Formula: f, rows: pointers[:n], table: pointers[n]}
	e.regs = f.Assign(len(set.regs), max(temporaries, f.Live()+1), wanted)
	e.masks = f.Assign(7, 7, func(formula.Step) []formula.Value { return nil })
	return e
}

// wanted returns the arguments of a step that must be in registers, because no instruction reads them from
// memory.
func wanted(s formula.Step) []formula.Value {
	switch s.Op {
	case formula.Subtract, formula.Divide, formula.Less, formula.AtLeast, formula.Equal:
		return s.Args[:1]
	case formula.Least, formula.Most, formula.Without:
		return s.Args[1:]
	case formula.LeastSize:
		return s.Args[:1]
	case formula.MultiplySubtract, formula.Select:
		return s.Args[2:]
	}
	return nil
}

func (e *evaluation) write() {
	signature := e.Result + ", "
	for _, o := range e.Operands {
		signature += o + ", "
	}
	TEXT(e.Formula.Name+e.isa.name, NOSPLIT, "func("+signature+"table *float32, n0, n1 float32, count int)")
	Pragma("noescape")
	for i, p := range append([]string{e.Result}, e.Operands...) {
		MOVQ(param(p), e.rows[i])
	}
	MOVQ(param("table"), e.table)
	count := pointers[len(e.rows)+1]
	MOVQ(param("count"), count)
	for _, v := range e.regs.Kept() {
		r, _ := e.regs.Of(v)
		if s := e.Steps[v]; s.Op == formula.Number {
			VBROADCASTSS(param(fmt.Sprint("n", s.Index)), e.isa.regs[r])
		} else {
			VMOVUPS(e.constant(s), e.isa.regs[r])
		}
	}
	Label("some")
	for i, s := range e.Steps {
		if s.Op != formula.Number && s.Op != formula.Constant {
			e.step(i, s)
		}
	}
	result, _ := e.regs.Of(formula.Value(len(e.Steps) - 1))
	VMOVUPS(e.isa.regs[result], operand.Mem{Base: e.rows[0]})
	for _, p := range e.rows {
		ADDQ(operand.Imm(uint64(e.bytes)), p)
	}
	SUBQ(operand.Imm(uint64(e.bytes/4)), count)
	JNE(operand.LabelRef("some"))
	VZEROUPPER()
	RET()
}

// constant returns the address of a constant in the table.
func (e *evaluation) constant(s formula.Step) operand.Mem {
	return operand.Mem{Base: e.table, Disp: 64 * s.Index}
}

// memory returns a value in the form of an operand: a register, or an address in memory.
func (e *evaluation) memory(v formula.Value) operand.Op {
	if r, ok := e.regs.Of(v); ok {
		return e.isa.regs[r]
	}
	return e.constant(e.Steps[v])
}

// register returns the register of a value. If a constant has no register, it gets one for this step.
func (e *evaluation) register(v formula.Value) reg.VecPhysical {
	if r, ok := e.regs.Of(v); ok {
		return e.isa.regs[r]
	}
	r := e.regs.Take()
	e.spare = append(e.spare, r)
	VMOVUPS(e.constant(e.Steps[v]), e.isa.regs[r])
	return e.isa.regs[r]
}

// mask returns the register of a mask of AVX-512.
func (e *evaluation) mask(v formula.Value) reg.Register {
	r, _ := e.masks.Of(v)
	return []reg.Register{reg.K1, reg.K2, reg.K3, reg.K4, reg.K5, reg.K6, reg.K7}[r]
}

// step writes the instructions of step i.
func (e *evaluation) step(i int, s formula.Step) {
	v := formula.Value(i)
	switch {
	case e.merges(i):
		return // merged writes this step with the next one
	case i > 0 && e.merges(i-1):
		e.merged(i, s)
	case s.Op == formula.MultiplyAdd || s.Op == formula.MultiplySubtract:
		e.fused(i, s)
	case s.Mask() && e.bytes == 64:
		r := e.masks.Take()
		e.masks.Set(v, r)
		e.compare(s, e.inputs(s), e.mask(v))
		e.masks.End(i, r)
		e.regs.End(i, -1)
	default:
		inputs := e.inputs(s)
		e.regs.End(i, -1)
		r := e.regs.Take()
		e.regs.Set(v, r)
		e.plain(s, inputs, e.isa.regs[r])
		if e.bytes == 64 {
			e.masks.End(i, -1)
		}
	}
	for _, r := range e.spare {
		e.regs.Free(r)
	}
	e.spare = nil
}

// merges reports whether one instruction of AVX-512 can do step i and the next one. Step i must be a
// difference, and the next step must select either the difference or the subtracted value. Nothing else may
// read these two values.
func (e *evaluation) merges(i int) bool {
	if e.bytes != 64 || i+1 >= len(e.Steps) || e.Steps[i].Op != formula.Subtract {
		return false
	}
	v, next := formula.Value(i), e.Steps[i+1]
	s := e.Steps[i].Args[1]
	return next.Op == formula.Select && next.Args[1] == v && next.Args[2] == s && e.Last()[i] == i+1 &&
		e.regs.Dies(s, i+1)
}

// merged writes a difference into the register of the subtracted value, in the lanes that the mask of the
// selection selects.
func (e *evaluation) merged(i int, s formula.Step) {
	to, _ := e.regs.Of(s.Args[2])
	a := e.Steps[i-1].Args[0]
	VSUBPS(e.isa.regs[to], e.register(a), e.mask(s.Args[0]), e.isa.regs[to])
	e.regs.Set(formula.Value(i), to)
	e.regs.End(i, to)
	e.masks.End(i, -1)
}

// inputs returns the arguments of a step in the order in which its instruction has its operands.
func (e *evaluation) inputs(s formula.Step) []operand.Op {
	needed := wanted(s)
	inputs := make([]operand.Op, len(s.Args))
	for k, v := range s.Args {
		switch {
		case e.Steps[v].Mask() && e.bytes == 64:
			inputs[k] = e.mask(v)
		case slices.Contains(needed, v):
			inputs[k] = e.register(v)
		default:
			inputs[k] = e.memory(v)
		}
	}
	if commutes(s.Op) {
		if _, ok := inputs[0].(operand.Mem); ok {
			inputs[0], inputs[1] = inputs[1], inputs[0]
		}
	}
	return inputs
}

// commutes reports whether the arguments of an operation may change places.
func commutes(o formula.Op) bool {
	switch o {
	case formula.Add, formula.Multiply, formula.And, formula.Or, formula.AddBits:
		return true
	}
	return false
}

// plain writes an operation that may overwrite one of its arguments.
func (e *evaluation) plain(s formula.Step, operands []operand.Op, dst reg.VecPhysical) {
	wide := e.bytes == 64
	switch s.Op {
	case formula.Operand:
		VMOVUPS(operand.Mem{Base: e.rows[1+s.Index]}, dst)
	case formula.Add:
		VADDPS(operands[1], operands[0], dst)
	case formula.Subtract:
		VSUBPS(operands[1], operands[0], dst)
	case formula.Multiply:
		VMULPS(operands[1], operands[0], dst)
	case formula.Divide:
		VDIVPS(operands[1], operands[0], dst)
	case formula.Least: // if it is NaN, or if both are zeros, the first argument is the result
		VMINPS(operands[0], operands[1], dst)
	case formula.Most:
		VMAXPS(operands[0], operands[1], dst)
	case formula.Without:
		pick(wide, VPANDND, VANDNPS)(operands[0], operands[1], dst)
	case formula.And:
		pick(wide, VPANDD, VANDPS)(operands[1], operands[0], dst)
	case formula.Or:
		pick(wide, VPORD, VORPS)(operands[1], operands[0], dst)
	case formula.AddBits:
		VPADDD(operands[1], operands[0], dst)
	case formula.SubtractBits:
		VPSUBD(operands[1], operands[0], dst)
	case formula.Left:
		VPSLLD(operand.Imm(uint64(s.Index)), operands[0], dst)
	case formula.Right:
		VPSRAD(operand.Imm(uint64(s.Index)), operands[0], dst)
	case formula.Float:
		VCVTDQ2PS(operands[0], dst)
	case formula.Root:
		VSQRTPS(operands[0], dst)
	case formula.Whole:
		const quiet = 8
		how := operand.Imm(uint64(s.Index) | quiet)
		if wide {
			VRNDSCALEPS(how, operands[0], dst)
		} else {
			VROUNDPS(how, operands[0], dst)
		}
	case formula.Scale:
		VSCALEFPS(operands[1], operands[0], dst)
	case formula.LeastSize:
		const leastSize, positive = 2, 2 << 2
		VRANGEPS(operand.Imm(leastSize|positive), operands[1], operands[0], dst)
	case formula.Select:
		if wide {
			VBLENDMPS(operands[1], operands[2], operands[0], dst)
		} else {
			VBLENDVPS(operands[0], operands[1], operands[2], dst)
		}
	default:
		e.compare(s, operands, dst)
	}
}

// pick returns the instruction a for AVX-512, or b for AVX2.
func pick(wide bool, a, b func(...operand.Op)) func(...operand.Op) {
	if wide {
		return a
	}
	return b
}

// atLeast is the predicate "first >= second". It is false for NaN, and raises no exception.
const atLeast = 0x1d

// compare writes a comparison, which sets a mask.
func (e *evaluation) compare(s formula.Step, operands []operand.Op, dst operand.Op) {
	if s.Op == formula.Both {
		if e.bytes == 64 {
			KANDW(operands[0], operands[1], dst)
		} else {
			VANDPS(operands[0], operands[1], dst)
		}
		return
	}
	predicate := map[formula.Op]uint64{formula.Less: less, formula.AtLeast: atLeast, formula.Equal: equal}[s.Op]
	VCMPPS(operand.Imm(predicate), operands[1], operands[0], dst)
}

// fused writes a multiply-add, which overwrites one of its operands: the addend if no other step reads it,
// otherwise a factor that no other step reads, otherwise a copy of the addend.
func (e *evaluation) fused(i int, s formula.Step) {
	a, b, c := s.Args[0], s.Args[1], s.Args[2]
	over231, over213, over132 := VFMADD231PS, VFMADD213PS, VFMADD132PS
	if s.Op == formula.MultiplySubtract {
		over231, over213, over132 = VFNMADD231PS, VFNMADD213PS, VFNMADD132PS
	}
	if !e.regs.Dies(a, i) && e.regs.Dies(b, i) {
		a, b = b, a
	}
	_, held := e.regs.Of(c)
	var to int
	switch {
	case e.regs.Dies(c, i) && c != a && c != b:
		to, _ = e.regs.Of(c)
		if _, ok := e.regs.Of(a); !ok {
			a, b = b, a
		}
		over231(e.memory(b), e.register(a), e.isa.regs[to])
	case e.regs.Dies(a, i) && a != b && a != c:
		to, _ = e.regs.Of(a)
		if held {
			over132(e.memory(b), e.register(c), e.isa.regs[to])
		} else {
			over213(e.memory(c), e.register(b), e.isa.regs[to])
		}
	default:
		to = e.regs.Take()
		VMOVUPS(e.memory(c), e.isa.regs[to])
		if _, ok := e.regs.Of(a); !ok {
			a, b = b, a
		}
		over231(e.memory(b), e.register(a), e.isa.regs[to])
	}
	e.regs.Set(formula.Value(i), to)
	e.regs.End(i, to)
}
