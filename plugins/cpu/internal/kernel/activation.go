package kernel

import (
	"math"
	"slices"
	"sync"

	"github.com/bnctl/bnctl/device/class"
)

// Function is a function of one element. It may have two parameters, a and b. Package class defines it.
type Function int

// The functions of x follow, and then the derivatives times dy, as functions of the value that the
// activation saves.
const (
	Exp Function = iota
	Log
	Sigmoid
	Tanh
	Silu
	Softplus
	Elu
	LeakyRelu
	HardSigmoid
	HardSwish
	Clip
	AffineOf
	Erf
	Gelu
	GeluTanh
	Mish
	Over      // x / a
	ExpNormal // exponential as softmax needs it: class.ExpNormal
	Root      // the square root
	ToEven    // rounds to a whole number, like the next two
	Floor
	Ceil
	functions // number of functions
)

// Operation is an operation of two elements.
type Operation int

// These are the operations of two elements.
const (
	Sub Operation = iota
	Mul
	Div
	Prelu // a if a >= 0, else a * b
	Max   // maximum as in Go: NaN if an element is NaN, and +0 is larger than -0
	Min
	Less // 1 where a < b, else 0
	AtMost
	Equal
	NotEqual
	operations
)

// unaryKernel, binaryKernel and ternaryKernel are loops over whole vectors.
type (
	unaryKernel  func(y, x, table *float32, a, b float32, count int)
	binaryKernel func(y, a, b, table *float32, n0, n1 float32, count int)

	ternaryKernel func(y, a, b, c, table *float32, n0, n1 float32, count int)
)

// activations is the assembly for functions, with vectors of the given number of lanes. It reads
// constants from a table, each repeated tableLanes times.
type activations struct {
	lanes     int
	functions [functions]unaryKernel
	gradients [functions]binaryKernel // nil if the function is no activation
	binaries  [operations]binaryKernel

	preluGradient, pick ternaryKernel
}

const tableLanes = 16

// constants has the values of formula.Constants, in the same order.
var constants = table(slices.Concat([]float32{
	class.Log2E, class.Round, -class.Ln2Hi, -class.Ln2Lo, class.Ln2, 1, 0.5, -0.5, 0, class.SigmoidScale,
	float32(math.Copysign(0, -1)), class.ExpLeast, class.ExpMost, -class.ExpLeast, class.Expm1Least, -2, 1. / 3,
	0x1p-126, 0x1p23, -23, math.Float32frombits(class.ThirdBits), float32(math.Inf(-1)), math.MaxFloat32,
	float32(math.Inf(-1)), float32(math.NaN()), class.TanhNear, class.ErfNear, class.ErfMost},
	class.ExpSeries[:], class.LogSeries[:], class.TanhSeries[:], class.ErfSeries[:], class.ErfcSeries[:],
	[]float32{math.Sqrt2, class.GeluScale, class.GeluCube, class.GeluSlope, class.GeluDensity, class.ErfSlope,
		class.GeluMost, -class.GeluMost, class.MishMost, 2, 4, class.Round + 63, class.ExpNormalLeast}))

// table repeats every constant for the lanes of a vector.
func table(constants []float32) (repeated []float32) {
	for _, c := range constants {
		repeated = append(repeated, slices.Repeat([]float32{c}, tableLanes)...)
	}
	return repeated
}

// padding is memory for the last elements of the operands, which do not fill a vector.
type padding [4][tableLanes]float32

var paddings = sync.Pool{New: func() any { return new(padding) }}

// Apply sets y to the function of x. definition computes the same function, and is used if
// there is no assembly. y may be x.
func (s *Set) Apply(f Function, y, x []float32, a, b float32, definition func(float32) float32) {
	x = x[:len(y)]
	if s.activations == nil {
		for i, v := range x {
			y[i] = definition(v)
		}
		return
	}
	do, n := s.activations.functions[f], len(y)/s.activations.lanes*s.activations.lanes
	if n > 0 {
		do(&y[0], &x[0], &constants[0], a, b, n)
	}
	if n < len(y) {
		p := paddings.Get().(*padding)
		copy(p[0][:], x[n:])
		do(&p[1][0], &p[0][0], &constants[0], a, b, s.activations.lanes)
		copy(y[n:], p[1][:])
		paddings.Put(p)
	}
}

// ApplyGradient sets dx to dy times the derivative of f at x, rounded. derivative computes the same
// derivative in plain Go. dx may be x or dy.
func (s *Set) ApplyGradient(f Function, dx, x, dy []float32, a, b float32,
	derivative func(float32) float32) {
	if s.activations == nil {
		for i, v := range x[:len(dx)] {
			dx[i] = derivative(v) * dy[i]
		}
		return
	}
	s.activations.two(s.activations.gradients[f], dx, x, dy, a, b)
}

// Combine sets y to an operation of a and b. y may be a or b.
func (s *Set) Combine(o Operation, y, a, b []float32) {
	if s.activations != nil {
		s.activations.two(s.activations.binaries[o], y, a, b, 0, 0)
		return
	}
	for i, v := range a[:len(y)] {
		switch o {
		case Sub:
			y[i] = v - b[i]
		case Mul:
			y[i] = v * b[i]
		case Div:
			y[i] = v / b[i]
		case Prelu:
			if y[i] = v; !(v >= 0) {
				y[i] = v * b[i]
			}
		case Max:
			y[i] = max(v, b[i])
		case Min:
			y[i] = min(v, b[i])
		case Less:
			y[i] = indicator(v < b[i])
		case AtMost:
			y[i] = indicator(v <= b[i])
		case Equal:
			y[i] = indicator(v == b[i])
		case NotEqual:
			y[i] = indicator(v != b[i])
		}
	}
}

// indicator returns 1 if a comparison holds, else 0.
func indicator(holds bool) float32 {
	if holds {
		return 1
	}
	return 0
}

// Pick copies elements of a to y where test is not 0, and elements of b elsewhere. A NaN in test is not 0.
// y may be any of the operands.
func (s *Set) Pick(y, test, a, b []float32) {
	test, a, b = test[:len(y)], a[:len(y)], b[:len(y)]
	if s.activations == nil {
		for i, t := range test {
			if t != 0 {
				y[i] = a[i]
			} else {
				y[i] = b[i]
			}
		}
		return
	}
	s.activations.three(s.activations.pick, y, test, a, b)
}

// PreluGradient sets dx to dy where x >= 0, else to slope * dy. dx may be x or dy.
func (s *Set) PreluGradient(dx, x, slope, dy []float32) {
	x, slope, dy = x[:len(dx)], slope[:len(dx)], dy[:len(dx)]
	if s.activations == nil {
		for i, g := range dy {
			if !(x[i] >= 0) {
				g *= slope[i]
			}
			dx[i] = g
		}
		return
	}
	s.activations.three(s.activations.preluGradient, dx, x, slope, dy)
}

// three computes y from the elements of three operands. The last elements, which fill no vector, are
// padded.
func (k *activations) three(do ternaryKernel, y, a, b, c []float32) {
	n := len(y) / k.lanes * k.lanes
	if n > 0 {
		do(&y[0], &a[0], &b[0], &c[0], &constants[0], 0, 0, n)
	}
	if n < len(y) {
		p := paddings.Get().(*padding)
		copy(p[0][:], a[n:])
		copy(p[1][:], b[n:])
		copy(p[2][:], c[n:])
		do(&p[3][0], &p[0][0], &p[1][0], &p[2][0], &constants[0], 0, 0, k.lanes)
		copy(y[n:], p[3][:])
		paddings.Put(p)
	}
}

// two computes y from the elements of two operands. The last elements, which fill no vector, are padded.
func (k *activations) two(do binaryKernel, y, a, b []float32, n0, n1 float32) {
	a, b = a[:len(y)], b[:len(y)]
	n := len(y) / k.lanes * k.lanes
	if n > 0 {
		do(&y[0], &a[0], &b[0], &constants[0], n0, n1, n)
	}
	if n < len(y) {
		p := paddings.Get().(*padding)
		copy(p[0][:], a[n:])
		copy(p[1][:], b[n:])
		do(&p[2][0], &p[0][0], &p[1][0], &constants[0], n0, n1, k.lanes)
		copy(y[n:], p[2][:])
		paddings.Put(p)
	}
}
