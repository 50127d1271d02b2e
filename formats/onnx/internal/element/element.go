package element

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/tensor"
)

// Integers returns a function that reads the elements of a constant of integers or truth
// values.
func Integers(t tensor.Tensor) (func(k int) int64, error) {
	switch t.DType {
	case tensor.I64:
		v := t.I64()
		return func(k int) int64 { return v[k] }, nil
	case tensor.I32:
		v := t.I32()
		return func(k int) int64 {
			if n := int64(v[k]) - anyBatch32; n >= 0 && n < MaxTimes32 {
				return BatchTimes(n + 1)
			}
			return int64(v[k])
		}, nil
	case tensor.I16:
		return widening[int16](t), nil
	case tensor.I8:
		return widening[int8](t), nil
	case tensor.U8:
		return widening[uint8](t), nil
	case tensor.U16:
		return widening[uint16](t), nil
	case tensor.U32:
		return widening[uint32](t), nil
	case tensor.Bool:
		return func(k int) int64 { return int64(t.Bytes[k]) }, nil
	case tensor.U64:
		v := tensor.View[uint64](t)
		for _, n := range v {
			if n > math.MaxInt64 {
				return nil, fmt.Errorf("computing with %d of %v is not supported", n, t.DType)
			}
		}
		return func(k int) int64 { return int64(v[k]) }, nil
	}
	return nil, fmt.Errorf("computing with %v is not supported, want integers", t.DType)
}

func widening[T int16 | int8 | uint8 | uint16 | uint32](t tensor.Tensor) func(k int) int64 {
	v := tensor.View[T](t)
	return func(k int) int64 { return int64(v[k]) }
}

// Reals returns a function that reads the elements of a constant of floats. Half-precision constants
// must have been converted to f32.
func Reals(t tensor.Tensor) (func(k int) float64, error) {
	switch t.DType {
	case tensor.F32:
		v := t.F32()
		return func(k int) float64 { return float64(v[k]) }, nil
	case tensor.F64:
		v := t.F64()
		return func(k int) float64 { return v[k] }, nil
	}
	return nil, fmt.Errorf("computing with %v is not supported, want floats", t.DType)
}

// SetReal sets element k of a constant of floats.
func SetReal(t tensor.Tensor, k int, v float64) {
	if t.DType == tensor.F64 {
		t.F64()[k] = v
		return
	}
	t.F32()[k] = float32(v)
}

// SetInteger sets element k of a constant of integers to the low bits of v, as in C. In a constant of
// truth values, it is true unless v is zero.
func SetInteger(t tensor.Tensor, k int, v int64) {
	times, ofBatch := TimesBatch(v)
	switch {
	case t.DType == tensor.Bool && v != 0:
		t.Bytes[k] = 1
	case t.DType == tensor.I32 && ofBatch:
		t.I32()[k] = int32(anyBatch32 + min(times, MaxTimes32) - 1)
	default:
		PutBits(t, k, uint64(v))
	}
}

// IntegersOf returns the elements of a constant of integers.
func IntegersOf(t tensor.Tensor) ([]int64, error) {
	at, err := Integers(t)
	if err != nil {
		return nil, err
	}
	out := make([]int64, t.Count())
	for k := range out {
		out[k] = at(k)
	}
	return out, nil
}

// Widened returns integers as int64.
func Widened[T int | int32](v []T) []int64 {
	out := make([]int64, len(v))
	for i, x := range v {
		out[i] = int64(x)
	}
	return out
}

// PutBits sets element i to the low bits of v.
func PutBits(t tensor.Tensor, i int, v uint64) {
	size := t.DType.Size()
	for j := range size {
		t.Bytes[i*size+j] = byte(v >> (8 * j))
	}
}

// IsFloat reports whether a type is a float type.
func IsFloat(d tensor.DType) bool {
	return d == tensor.F32 || d == tensor.F64 || d == tensor.F16 || d == tensor.BF16
}

// Limits has the smallest and the largest value of each integer type.
var Limits = map[tensor.DType][2]int64{
	tensor.U8: {0, math.MaxUint8}, tensor.I8: {math.MinInt8, math.MaxInt8},
	tensor.U16: {0, math.MaxUint16}, tensor.I16: {math.MinInt16, math.MaxInt16},
	tensor.U32: {0, math.MaxUint32}, tensor.I32: {math.MinInt32, math.MaxInt32},
	tensor.I64: {math.MinInt64, math.MaxInt64}}
