package onnx

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/tensor"
)

// anyBatch stands for the length N of the batch in computations with shapes, and
// the integers behind it for 2*N, 3*N and so on. They may be moved around, and
// computed with where the result is such a multiple or does not depend on N; in
// integers of 32 bits they begin at anyBatch32.
const (
	anyBatch   = -1<<63 + 20221121
	anyBatch32 = -1<<31 + 20221121
	maxTimes   = 1 << 30 // the largest multiple
	maxTimes32 = 1 << 20
)

// batchTimes stands for times*N.
func batchTimes(times int64) int64 { return anyBatch + times - 1 }

// timesBatch returns how many times the length of the batch v stands for.
func timesBatch(v int64) (times int64, ok bool) {
	if v < anyBatch || v >= anyBatch+maxTimes {
		return 0, false
	}
	return v - anyBatch + 1, true
}

// integers returns what reads the elements of a constant of integers or truth values.
func integers(t tensor.Tensor) (func(k int) int64, error) {
	switch t.DType {
	case tensor.I64:
		v := t.I64()
		return func(k int) int64 { return v[k] }, nil
	case tensor.I32:
		v := t.I32()
		return func(k int) int64 {
			if n := int64(v[k]) - anyBatch32; n >= 0 && n < maxTimes32 {
				return batchTimes(n + 1)
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

// reals returns what reads the elements of a constant of floats; halves have become f32.
func reals(t tensor.Tensor) (func(k int) float64, error) {
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

// setReal sets element k of a constant of floats.
func setReal(t tensor.Tensor, k int, v float64) {
	if t.DType == tensor.F64 {
		t.F64()[k] = v
		return
	}
	t.F32()[k] = float32(v)
}

// setInteger sets element k of a constant of integers to the low bits of v that
// its type has, as C does it; of truth values all but zero is true.
func setInteger(t tensor.Tensor, k int, v int64) {
	times, ofBatch := timesBatch(v)
	switch {
	case t.DType == tensor.Bool && v != 0:
		t.Bytes[k] = 1
	case t.DType == tensor.I32 && ofBatch:
		t.I32()[k] = int32(anyBatch32 + min(times, maxTimes32) - 1)
	default:
		putBits(t, k, uint64(v))
	}
}

// integersOf returns the elements of a constant of integers.
func integersOf(t tensor.Tensor) ([]int64, error) {
	at, err := integers(t)
	if err != nil {
		return nil, err
	}
	out := make([]int64, t.Count())
	for k := range out {
		out[k] = at(k)
	}
	return out, nil
}

func widened[T int | int32](v []T) []int64 {
	out := make([]int64, len(v))
	for i, x := range v {
		out[i] = int64(x)
	}
	return out
}

// gatherElements returns a tensor of a shape whose element at an index is the element of t at the
// offset that from gives; at a negative offset it is zero.
func gatherElements(t tensor.Tensor, shape []int, from func(index []int) int) tensor.Tensor {
	out := tensor.New(t.DType, shape...)
	each(shape, func(to int, index []int) {
		if k := from(index); k >= 0 {
			move(out, to, t, k)
		}
	})
	return out
}

// move copies element from of t to element to of dst, which has its type.
func move(dst tensor.Tensor, to int, t tensor.Tensor, from int) {
	n := t.DType.Size()
	copy(dst.Bytes[to*n:(to+1)*n], t.Bytes[from*n:])
}

// each calls f for all elements of a shape in their order.
func each(shape []int, f func(k int, index []int)) {
	index := make([]int, len(shape))
	for k := range tensor.Count(shape) {
		f(k, index)
		for a := len(shape) - 1; a >= 0; a-- {
			if index[a]++; index[a] < shape[a] {
				break
			}
			index[a] = 0
		}
	}
}

// strides returns how far elements lie apart along every axis.
func strides(shape []int) []int {
	out, n := make([]int, len(shape)), 1
	for a := len(shape) - 1; a >= 0; a-- {
		out[a] = n
		n *= shape[a]
	}
	return out
}

// broadcastIndex returns the offset, in a tensor of a shape, of the element that an index of a
// shape to which it broadcasts selects.
func broadcastIndex(shape []int, rank int) func(index []int) int {
	skip, step := rank-len(shape), strides(shape)
	for a, n := range shape {
		if n == 1 {
			step[a] = 0
		}
	}
	return func(index []int) int {
		at := 0
		for a := range step {
			at += index[skip+a] * step[a]
		}
		return at
	}
}
