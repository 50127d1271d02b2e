// Package formula has the functions of one element as lists of steps. The generators of all
// processors write loops from them. device/class/elementary.go and activation32.go define
// the arithmetic; a step here is one operation there.
package formula

import "slices"

// Op is the operation of a step on its arguments a, b and c.
type Op int

const (
	Operand  Op = iota // element of operand Index
	Number             // parameter Index of the function
	Constant           // Constants[Index]

	MultiplyAdd      // a*b + c, rounded once
	MultiplySubtract // c - a*b, rounded once
	Add
	Subtract // a - b
	Multiply
	Divide // a / b
	Least  // b if a > b, else a; so NaN in a and the sign of a zero are kept
	Most   // b if a < b, else a
	Root   // the square root of a
	Whole  // a rounded to a whole number; Index is ToEven, Down or Up

	Without // bits that are set in a but not in b
	And     // bits that are set in both a and b
	Or      // bits that are set in a or in b

	AddBits      // a + b, as whole numbers
	SubtractBits // a - b, as whole numbers
	Left         // a << Index, as whole numbers
	Right        // a >> Index, as whole numbers with a sign
	Float        // the whole number a as float32

	// The following are used only where the processor has instructions for them:
	Scale     // a * 2^b, rounded once
	LeastSize // the smaller one of |a| and |b|; b if a is NaN

	// The following results are masks. Comparisons are false for NaN.
	Less    // a < b
	AtLeast // a >= b
	Equal   // a == b
	Both    // true where both masks a and b are true
	Select  // b where mask a holds, else c
)

// These are the roundings of Whole.
const (
	ToEven = iota
	Down
	Up
)

// Value is the number of a step, and represents its result.
type Value int

// Step is one operation.
type Step struct {
	Op    Op
	Args  []Value
	Index int
}

// Mask reports whether the step's result is a mask.
func (s Step) Mask() bool { return s.Op >= Less && s.Op <= Both }

// Formula computes a function from one element of each operand. The result of its last step is the result.
type Formula struct {
	Name     string
	Operands []string // names of the operands; the result's name is Result
	Result   string
	Numbers  int
	Steps    []Step

	scales bool // the processor has an instruction for Scale
}

// Last returns, for each step, the last step that reads its result.
func (f *Formula) Last() []int {
	last := make([]int, len(f.Steps))
	for i, s := range f.Steps {
		for _, v := range s.Args {
			last[v] = i
		}
	}
	last[len(last)-1] = len(last)
	return last
}

// Live returns the maximum number of results that must be kept at a step. These are the result of the step,
// and all results that it or a later step reads.
func (f *Formula) Live() int {
	last, most := f.Last(), 0
	for i := range f.Steps {
		n := 0
		for v, s := range f.Steps[:i+1] {
			if s.Op != Number && s.Op != Constant && last[v] >= i {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// Constants are the names of the constants, in the order of the table that all functions receive:
// kernel.constants.
var Constants = []string{
	"log2e", "round", "-ln2hi", "-ln2lo", "ln2", "one", "half", "-half", "zero", "two64", "sign",
	"expLeast", "expMost", "-expLeast", "expm1Least", "-two", "third", "normal", "two23", "-23", "thirdBits",
	"exponent", "largest", "-inf", "nan", "tanhNear", "erfNear", "erfMost",
	"exp0", "exp1", "exp2", "exp3", "exp4",
	"log0", "log1", "log2", "log3", "log4", "log5", "log6", "log7", "log8",
	"tanh0", "tanh1", "tanh2", "tanh3", "tanh4",
	"erf0", "erf1", "erf2", "erf3", "erf4", "erf5", "erf6",
	"erfc0", "erfc1", "erfc2", "erfc3", "erfc4", "erfc5", "erfc6",
	"sqrt2", "geluScale", "geluCube", "geluSlope", "geluDensity", "erfSlope", "geluMost", "-geluMost",
	"mishMost", "two", "four", "round63", "expNormalLeast",
}

// step appends a step and returns it. If the formula already has the same step, it returns that one.
func (f *Formula) step(op Op, index int, args ...Value) Value {
	s := Step{op, args, index}
	if i := slices.IndexFunc(f.Steps, func(t Step) bool {
		return t.Op == op && t.Index == index && slices.Equal(t.Args, args)
	}); i >= 0 {
		return Value(i)
	}
	f.Steps = append(f.Steps, s)
	return Value(len(f.Steps) - 1)
}

func (f *Formula) operand(i int) Value { return f.step(Operand, i) }

func (f *Formula) number(i int) Value {
	f.Numbers = max(f.Numbers, i+1)
	return f.step(Number, i)
}

func (f *Formula) constant(name string) Value {
	i := slices.Index(Constants, name)
	if i < 0 {
		panic("formula: no constant " + name)
	}
	return f.step(Constant, i)
}

// fma returns a*b + c, rounded once.
func (f *Formula) fma(a, b, c Value) Value { return f.step(MultiplyAdd, 0, a, b, c) }

// do returns the result of an operation on the given values.
func (f *Formula) do(op Op, args ...Value) Value { return f.step(op, 0, args...) }

// polynomial returns a polynomial in x. Its n coefficients are constants with names that begin with series.
func (f *Formula) polynomial(x Value, series string, n int) Value {
	sum := f.constant(series + "0")
	for i := 1; i < n; i++ {
		sum = f.fma(sum, x, f.constant(series+string(rune('0'+i))))
	}
	return sum
}

// absolute is x without its sign.
func (f *Formula) absolute(x Value) Value { return f.do(Without, x, f.constant("sign")) }

// signed returns v with the sign of x. If positive is set, the sign bit of v must be 0.
func (f *Formula) signed(v, x Value, positive bool) Value {
	if !positive {
		v = f.absolute(v)
	}
	return f.do(Or, v, f.do(And, x, f.constant("sign")))
}
