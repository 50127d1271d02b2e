package fold

import (
	"cmp"
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// These folds compute functions of one number.
var (
	Neg        = Unary(func(v float64) float64 { return -v }, func(v int64) int64 { return -v })
	Abs        = Unary(math.Abs, func(v int64) int64 { return max(v, -v) })
	Sign       = Unary(sign[float64], sign[int64])
	Relu       = Unary(func(v float64) float64 { return max(v, 0) }, nil)
	Floor      = Unary(math.Floor, nil)
	Ceil       = Unary(math.Ceil, nil)
	Round      = Unary(math.RoundToEven, nil)
	Sqrt       = Unary(math.Sqrt, nil)
	Reciprocal = Unary(func(v float64) float64 { return 1 / v }, nil)
	Exp        = Unary(tensor.Exp, nil)
	Log        = Unary(tensor.Log, nil)
	Sin        = Unary(tensor.Sin, nil)
	Cos        = Unary(tensor.Cos, nil)
	Tanh       = Unary(tensor.Tanh, nil)
	Erf        = Unary(tensor.Erf, nil)
	Sigmoid    = Unary(func(v float64) float64 { return 1 / (1 + tensor.Exp(-v)) }, nil)
	Not        = unary(unaryFold{integer: func(v int64) int64 { return 1 - v }, ofTruths: true})
	BitwiseNot = Unary(nil, func(v int64) int64 { return ^v })
	IsNaN      = unary(unaryFold{real: func(v float64) float64 { return truth(math.IsNaN(v)) }, tells: true})
	isInfinite = unary(unaryFold{real: func(v float64) float64 { return truth(math.IsInf(v, 0)) }, tells: true})
)

// IsInf reports the infinities of both signs.
func IsInf(c *node.Node) []tensor.Tensor {
	c.Required(0)
	if c.Int("detect_negative", 1) == 0 || c.Int("detect_positive", 1) == 0 {
		c.Fail("of one sign alone is not supported")
	}
	return isInfinite(c)
}

// unaryFold is a function of one number. It has one function for floats, in float64, and one for
// integers. A function is nil if it is undefined.
type unaryFold struct {
	real     func(float64) float64
	integer  func(int64) int64
	ofTruths bool // the operand has truth values
	tells    bool // the result has truth values
}

// Unary returns the fold of a function of one number. real is for floats, in float64, and integer for
// integers. One of them may be nil.
func Unary(real func(float64) float64, integer func(int64) int64) Func {
	return unary(unaryFold{real: real, integer: integer})
}

func unary(f unaryFold) Func {
	return One(func(c *node.Node) tensor.Tensor { return foldUnary(c, f) })
}

func sign[T int64 | float64](v T) T {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return v // 0 or NaN
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func foldUnary(c *node.Node, f unaryFold) tensor.Tensor {
	t := c.Required(0)
	floats := element.IsFloat(t.DType)
	if floats && f.real == nil || !floats && f.integer == nil || f.ofTruths != (t.DType == tensor.Bool) {
		c.Fail("of constants of %v is not supported", t.DType)
	}
	d := t.DType
	if f.tells {
		d = tensor.Bool
	}
	out := c.NewConstant(d, t.Shape)
	if c.Err != nil {
		return node.Nothing
	}
	if floats {
		_, at := c.Reals(0)
		for k := range t.Count() {
			if v := f.real(at(k)); d == tensor.Bool {
				element.SetInteger(out, k, int64(v))
			} else {
				element.SetReal(out, k, v)
			}
		}
		return out
	}
	_, at := c.Integers(0)
	for k := 0; k < t.Count() && c.Err == nil; k++ {
		element.SetInteger(out, k, f.integer(c.Concrete(at(k))))
	}
	return out
}

// binaryFold is a function of two numbers, or of several from left to right.
type binaryFold struct {
	real       func(a, b float64) float64
	integer    func(c *node.Node, a, b int64) int64 // also for lengths of the batch
	variadic   bool                                 // accepts any number of operands
	boolean    bool                                 // the result has truth values
	mixedTypes bool                                 // operands may differ in type; the result has the first type
	ofTruths   bool                                 // the operands have truth values
	anyType    bool                                 // the operands may also have truth values
}

// These folds compute functions of two numbers.
var (
	Add = binary(binaryFold{real: plus, integer: addIntegers})
	Sub = binary(binaryFold{real: func(a, b float64) float64 { return a - b }, integer: subtractIntegers})
	Mul = binary(binaryFold{real: times, integer: multiplyIntegers})
	Div = binary(binaryFold{real: func(a, b float64) float64 { return a / b }, integer: divideIntegers})
	Mod = binary(binaryFold{real: math.Mod, integer: remainderOf})
	Pow = binary(binaryFold{real: tensor.Pow, integer: raiseInteger, mixedTypes: true})
	Min = binary(binaryFold{real: smaller, integer: smallerInteger, variadic: true})
	Max = binary(binaryFold{real: larger, integer: largerInteger, variadic: true})
	Sum = binary(binaryFold{real: plus, variadic: true})

	Equal          = binary(ofAnyType(comparison(func(order int) bool { return order == 0 })))
	Greater        = binary(comparison(func(order int) bool { return order == 1 }))
	GreaterOrEqual = binary(comparison(func(order int) bool { return order == 1 || order == 0 }))
	Less           = binary(comparison(func(order int) bool { return order == -1 }))
	LessOrEqual    = binary(comparison(func(order int) bool { return order == -1 || order == 0 }))

	And        = binary(binaryFold{integer: exact(func(a, b int64) int64 { return a & b }, 1), ofTruths: true})
	Or         = binary(binaryFold{integer: exact(func(a, b int64) int64 { return a | b }, 0), ofTruths: true})
	Xor        = binary(binaryFold{integer: exact(func(a, b int64) int64 { return a ^ b }, 0), ofTruths: true})
	BitwiseAnd = binary(binaryFold{integer: exact(func(a, b int64) int64 { return a & b }, -1)})
	BitwiseOr  = binary(binaryFold{integer: exact(func(a, b int64) int64 { return a | b }, 0)})
	BitwiseXor = binary(binaryFold{integer: exact(func(a, b int64) int64 { return a ^ b }, 0)})
)

func binary(f binaryFold) Func {
	return One(func(c *node.Node) tensor.Tensor { return foldBinary(c, f) })
}

func ofAnyType(f binaryFold) binaryFold {
	f.anyType = true
	return f
}

// exact extends f to operands that may be multiples of the length of the batch, which is not known. If the
// other operand is neutral, the result is the multiple itself. Otherwise f computes with a concrete
// length, or the node fails.
func exact(f func(a, b int64) int64, neutral int64) func(*node.Node, int64, int64) int64 {
	return func(c *node.Node, a, b int64) int64 {
		_, left := element.TimesBatch(a)
		_, right := element.TimesBatch(b)
		switch {
		case left && b == neutral:
			return a
		case right && a == neutral:
			return b
		}
		return f(c.Concrete(a), c.Concrete(b))
	}
}

// remainderOf returns the remainder with the sign of the divisor, or with fmod the sign
// of the dividend.
func remainderOf(c *node.Node, a, b int64) int64 {
	if a, b = c.Concrete(a), c.Concrete(b); b == 0 {
		c.Fail("divides by zero")
		return 0
	}
	m := a % b
	if c.Int("fmod", 0) == 0 && m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m
}

func raiseInteger(c *node.Node, a, b int64) int64 {
	a, b = c.Concrete(a), c.Concrete(b)
	if b < 0 || b > 64 {
		c.Fail("an integer to the power of %d is not supported", b)
		return 0
	}
	p := int64(1)
	for range b {
		p *= a
	}
	return p
}

func plus(a, b float64) float64    { return a + b }
func times(a, b float64) float64   { return a * b }
func smaller(a, b float64) float64 { return min(a, b) }
func larger(a, b float64) float64  { return max(a, b) }

// comparison returns a comparison. f maps the order of two numbers to its result. The order is -1, 0 or
// 1, or 2 if one of the numbers is NaN.
func comparison(f func(order int) bool) binaryFold {
	of := func(order int) int64 {
		if f(order) {
			return 1
		}
		return 0
	}
	return binaryFold{boolean: true,
		real:    func(a, b float64) float64 { return float64(of(order(a, b))) },
		integer: func(c *node.Node, a, b int64) int64 { return of(compareIntegers(c, a, b)) }}
}

func order[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return 2
}

// foldBinary computes a function of operands that broadcast.
func foldBinary(c *node.Node, f binaryFold) tensor.Tensor {
	if len(c.In) != 2 && !f.variadic || len(c.In) == 0 {
		c.Fail("has %d operands, want 2", len(c.In))
	}
	acc := c.Required(0)
	for i := 1; i < len(c.In) && c.Err == nil; i++ {
		acc = applyBinary(c, f, acc, c.Required(i))
	}
	return acc
}

func applyBinary(c *node.Node, f binaryFold, a, b tensor.Tensor) tensor.Tensor {
	if c.Err == nil && f.mixedTypes && a.DType != b.DType {
		inF64 := applyBinary(c, f, CastTo(c, a, tensor.F64), CastTo(c, b, tensor.F64))
		if c.Err != nil {
			return node.Nothing
		}
		return CastTo(c, inF64, a.DType)
	}
	floats := element.IsFloat(a.DType)
	switch {
	case c.Err != nil:
	case a.DType != b.DType:
		c.Fail("operands of different types, %v and %v", a.DType, b.DType)
	case c.Opset < 7 && c.Attribute("axis") != nil && !slices.Equal(a.Shape, b.Shape):
		c.Fail("of constants that broadcast along an axis is not supported")
	case floats && f.real == nil || !floats && f.integer == nil ||
		f.ofTruths != (a.DType == tensor.Bool) && !f.anyType:
		c.Fail("of constants of %v is not supported", a.DType)
	}
	shape, err := graph.Broadcast(a.Shape, b.Shape)
	if err != nil {
		c.Fail("%w", err)
	}
	d := a.DType
	if f.boolean {
		d = tensor.Bool
	}
	out := c.NewConstant(d, shape)
	if c.Err != nil {
		return node.Nothing
	}
	applyElements(c, f, out, a, b)
	return out
}

func applyElements(c *node.Node, f binaryFold, out, a, b tensor.Tensor) {
	ofA, ofB := element.BroadcastIndex(a.Shape, len(out.Shape)), element.BroadcastIndex(b.Shape, len(out.Shape))
	if element.IsFloat(a.DType) {
		x, _ := element.Reals(a)
		y, _ := element.Reals(b)
		set := func(k, i, j int) {
			if v := f.real(x(i), y(j)); f.boolean {
				element.SetInteger(out, k, int64(v))
			} else {
				element.SetReal(out, k, v)
			}
		}
		if whole := slices.Equal(a.Shape, out.Shape); whole && (slices.Equal(b.Shape, a.Shape) || b.Count() == 1) {
			step := min(b.Count()-1, 1) // 0: b is one number
			if out.DType == tensor.F32 {
				for k, v := range a.F32() {
					out.F32()[k] = float32(f.real(float64(v), y(k*step)))
				}
				return
			}
			for k := range out.Count() {
				set(k, k, k*step)
			}
			return
		}
		element.Each(out.Shape, func(k int, index []int) { set(k, ofA(index), ofB(index)) })
		return
	}
	x, err := element.Integers(a)
	y, err2 := element.Integers(b)
	if err := cmp.Or(err, err2); err != nil {
		c.Fail("%w", err)
		return
	}
	element.Each(out.Shape, func(k int, index []int) {
		if c.Err == nil {
			element.SetInteger(out, k, f.integer(c, x(ofA(index)), y(ofB(index))))
		}
	})
}
