package fold

import (
	"cmp"
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/tensor"
)

// UnaryOps are the functions of one number, by what they make of floats, in
// float64, and of integers; nil where they have none.
var UnaryOps = map[string]struct {
	real    func(float64) float64
	integer func(int64) int64
}{
	"Neg":        {func(v float64) float64 { return -v }, func(v int64) int64 { return -v }},
	"Abs":        {math.Abs, func(v int64) int64 { return max(v, -v) }},
	"Sign":       {sign[float64], sign[int64]},
	"Relu":       {func(v float64) float64 { return max(v, 0) }, nil},
	"Floor":      {math.Floor, nil},
	"Ceil":       {math.Ceil, nil},
	"Round":      {math.RoundToEven, nil},
	"Sqrt":       {math.Sqrt, nil},
	"Reciprocal": {func(v float64) float64 { return 1 / v }, nil},
	"Exp":        {tensor.Exp, nil},
	"Log":        {tensor.Log, nil},
	"Sin":        {tensor.Sin, nil},
	"Cos":        {tensor.Cos, nil},
	"Tanh":       {tensor.Tanh, nil},
	"Erf":        {tensor.Erf, nil},
	"Sigmoid":    {func(v float64) float64 { return 1 / (1 + tensor.Exp(-v)) }, nil},
	"Not":        {nil, func(v int64) int64 { return 1 - v }},
	"BitwiseNot": {nil, func(v int64) int64 { return ^v }},
	"IsNaN":      {func(v float64) float64 { return truth(math.IsNaN(v)) }, nil},
	"IsInf":      {func(v float64) float64 { return truth(math.IsInf(v, 0)) }, nil},
}

func sign[T int64 | float64](v T) T {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return v // zero, or no number
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func Unary(c *node.Node) tensor.Tensor {
	f, t := UnaryOps[c.Proto.OpType], c.Required(0)
	floats := element.IsFloat(t.DType)
	if c.Proto.OpType == "IsInf" && (c.Int("detect_negative", 1) == 0 || c.Int("detect_positive", 1) == 0) {
		c.Fail("of one sign alone is not supported")
	}
	if floats && f.real == nil || !floats && f.integer == nil ||
		(c.Proto.OpType == "Not") != (t.DType == tensor.Bool) {
		c.Fail("of constants of %v is not supported", t.DType)
	}
	d := t.DType
	if c.Proto.OpType == "IsNaN" || c.Proto.OpType == "IsInf" {
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

// binaryFold is a function of two numbers, or of more from left to right.
type binaryFold struct {
	real       func(a, b float64) float64
	integer    func(c *node.Node, a, b int64) int64 // of anyBatch too
	variadic   bool                                 // takes any number of operands
	boolean    bool                                 // the result is a truth value
	mixedTypes bool                                 // of the operands; the result has the first's
}

var BinaryOps = map[string]binaryFold{
	"Add": {real: plus, integer: addIntegers},
	"Sub": {real: func(a, b float64) float64 { return a - b }, integer: subtractIntegers},
	"Mul": {real: times, integer: multiplyIntegers},
	"Div": {real: func(a, b float64) float64 { return a / b }, integer: divideIntegers},
	"Mod": {real: math.Mod, integer: remainderOf},
	"Pow": {real: tensor.Pow, integer: raiseInteger, mixedTypes: true},
	"Min": {real: smaller, integer: smallerInteger, variadic: true},
	"Max": {real: larger, integer: largerInteger, variadic: true},
	"Sum": {real: plus, variadic: true},

	"Equal":          comparison(func(order int) bool { return order == 0 }),
	"Greater":        comparison(func(order int) bool { return order == 1 }),
	"GreaterOrEqual": comparison(func(order int) bool { return order == 1 || order == 0 }),
	"Less":           comparison(func(order int) bool { return order == -1 }),
	"LessOrEqual":    comparison(func(order int) bool { return order == -1 || order == 0 }),

	"And":        {integer: exact(func(a, b int64) int64 { return a & b }, 1)},
	"Or":         {integer: exact(func(a, b int64) int64 { return a | b }, 0)},
	"Xor":        {integer: exact(func(a, b int64) int64 { return a ^ b }, 0)},
	"BitwiseAnd": {integer: exact(func(a, b int64) int64 { return a & b }, -1)},
	"BitwiseOr":  {integer: exact(func(a, b int64) int64 { return a | b }, 0)},
	"BitwiseXor": {integer: exact(func(a, b int64) int64 { return a ^ b }, 0)},
}

// exact makes a function that leaves the length of the batch as it is if the other operand changes
// nothing.
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

// remainderOf has the sign of the divisor, or with fmod that of the dividend.
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

// comparison compares: f tells of the order of two numbers, -1, 0 or 1, or 2 where
// one is no number.
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

// Binary computes operators of operands that broadcast.
func Binary(c *node.Node) tensor.Tensor {
	f := BinaryOps[c.Proto.OpType]
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
	boolean := c.Proto.OpType == "And" || c.Proto.OpType == "Or" || c.Proto.OpType == "Xor"
	floats := element.IsFloat(a.DType)
	switch {
	case c.Err != nil:
	case a.DType != b.DType:
		c.Fail("operands of different types, %v and %v", a.DType, b.DType)
	case c.Opset < 7 && c.Attribute("axis") != nil && !slices.Equal(a.Shape, b.Shape):
		c.Fail("of constants that broadcast along an axis is not supported")
	case floats && f.real == nil || !floats && f.integer == nil ||
		boolean != (a.DType == tensor.Bool) && c.Proto.OpType != "Equal":
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
		element.Each(out.Shape, func(k int, index []int) {
			if v := f.real(x(ofA(index)), y(ofB(index))); f.boolean {
				element.SetInteger(out, k, int64(v))
			} else {
				element.SetReal(out, k, v)
			}
		})
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
