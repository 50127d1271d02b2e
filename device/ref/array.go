package ref

import (
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// array is a value while a function runs: lead blocks of size elements. lead is
// the number of rows or replicas, or 1 for whole values.
type array struct {
	typ  graph.Type
	lead int
	size int
	f    []float64 // the elements of f32 and f64 values
	i    []int64   // the elements of values of all other types
}

func newArray(t graph.Type, lead int) *array {
	a := &array{typ: t, lead: lead, size: tensor.Count(t.Shape)}
	if float(t.DType) {
		a.f = make([]float64, lead*a.size)
	} else {
		a.i = make([]int64, lead*a.size)
	}
	return a
}

func float(d tensor.DType) bool { return d == tensor.F32 || d == tensor.F64 }

// block returns block n.
func (a *array) block(n int) []float64 { return a.f[n*a.size : (n+1)*a.size] }

// ints returns block n of an integer value.
func (a *array) ints(n int) []int64 { return a.i[n*a.size : (n+1)*a.size] }

// round rounds the elements of an f32 value to float32; loops compute them in float64. At precision
// bf16 it also rounds the elements of a stored value to bfloat16.
func (a *array) round(bf16 bool) {
	if a.typ.DType != tensor.F32 {
		return
	}
	for i, v := range a.f {
		a.f[i] = float64(float32(v))
	}
	if bf16 && device.StoredBF16(a.typ) {
		roundBF16(a.f)
	}
}

// roundBF16 rounds float32 values to bfloat16.
func roundBF16(list []float64) {
	for i, v := range list {
		list[i] = float64(device.RoundBF16(float32(v)))
	}
}

// operand returns a copy, rounded like an operand of a product at precision device.BF16.
func (a *array) operand() *array {
	b := &array{typ: a.typ, lead: a.lead, size: a.size, f: slices.Clone(a.f)}
	roundBF16(b.f)
	return b
}

// fullShape returns the shape of a tensor that holds lead blocks of type t.
func fullShape(t graph.Type, lead int) []int {
	if t.Kind == graph.Whole {
		return slices.Clone(t.Shape)
	}
	return append([]int{lead}, t.Shape...)
}

// fromTensor returns the elements of t, with checked type and shape. t may have type F64 where
// typ has F32 (Eval64).
func fromTensor(typ graph.Type, lead int, t tensor.Tensor) *array {
	a := newArray(typ, lead)
	switch t.DType {
	case tensor.F32:
		widen(a.f, t.F32())
	case tensor.F64:
		copy(a.f, t.F64())
	case tensor.I32:
		widen(a.i, t.I32())
	case tensor.I64:
		copy(a.i, t.I64())
	case tensor.U8:
		widen(a.i, t.U8())
	case tensor.I8:
		widen(a.i, tensor.View[int8](t))
	}
	return a
}

func widen[D, S int8 | int32 | int64 | uint8 | float32 | float64](dst []D, src []S) {
	for i, v := range src {
		dst[i] = D(v)
	}
}

// tensor returns a copy of blocks [from, to) as a tensor of type d.
func (a *array) tensor(d tensor.DType, from, to int) tensor.Tensor {
	t := tensor.New(d, fullShape(a.typ, to-from)...)
	lo, hi := from*a.size, to*a.size
	switch d {
	case tensor.F32:
		widen(t.F32(), a.f[lo:hi])
	case tensor.F64:
		copy(t.F64(), a.f[lo:hi])
	case tensor.I32:
		widen(t.I32(), a.i[lo:hi])
	case tensor.I64:
		copy(t.I64(), a.i[lo:hi])
	case tensor.U8:
		widen(t.U8(), a.i[lo:hi])
	case tensor.I8:
		widen(tensor.View[int8](t), a.i[lo:hi])
	}
	return t
}
