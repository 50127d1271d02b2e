package onnx

import (
	"fmt"

	"github.com/bnctl/bnctl/tensor"
)

// anyBatch stands for the length of the batch in computations with shapes. It
// may be moved around but not computed with.
const anyBatch = -1<<63 + 20221121

// numbers are the elements of a constant: integers or floats.
type numbers struct {
	shape []int
	i     []int64
	f     []float32
	t     tensor.Tensor // whose memory i or f is, if it is that of a tensor
}

func toNumbers(t tensor.Tensor) (numbers, error) {
	n := numbers{shape: t.Shape}
	switch t.DType {
	case tensor.I64:
		n.i, n.t = t.I64(), t
	case tensor.F32:
		n.f, n.t = t.F32(), t
	case tensor.I32:
		n.i = widened(t.I32())
	case tensor.I16:
		n.i = widened(tensor.View[int16](t))
	case tensor.I8:
		n.i = widened(tensor.View[int8](t))
	case tensor.U8:
		n.i = widened(t.U8())
	case tensor.U16:
		n.i = widened(tensor.View[uint16](t))
	case tensor.Bool:
		n.i = widened(t.Bytes)
	case tensor.F64, tensor.F16, tensor.BF16:
		f, err := t.ToF32()
		n.f = f.F32()
		return n, err
	default:
		return n, fmt.Errorf("computing with %v is not supported", t.DType)
	}
	return n, nil
}

func widened[T int | int32 | int16 | int8 | uint16 | uint8](v []T) []int64 {
	out := make([]int64, len(v))
	for i, x := range v {
		out[i] = int64(x)
	}
	return out
}

func (n numbers) tensor() tensor.Tensor {
	if !n.t.IsZero() {
		return n.t.Reshape(n.shape...)
	}
	if n.f != nil {
		return tensor.Of(n.f, n.shape...)
	}
	return tensor.Of(n.i, n.shape...)
}

// dtype returns the type of the elements.
func (n numbers) dtype() tensor.DType {
	if n.f != nil {
		return tensor.F32
	}
	return tensor.I64
}

// computedAs returns the type in which constants of type d are computed with.
func computedAs(d tensor.DType) tensor.DType {
	if isFloat(d) {
		return tensor.F32
	}
	return tensor.I64
}

// like returns numbers of the same type with a new shape.
func (n numbers) like(shape []int) numbers {
	if n.f != nil {
		return numbers{shape: shape, f: make([]float32, tensor.Count(shape))}
	}
	return numbers{shape: shape, i: make([]int64, tensor.Count(shape))}
}

// put sets element to of dst to element from of n.
func (n numbers) put(dst numbers, to, from int) {
	if n.f != nil {
		dst.f[to] = n.f[from]
	} else {
		dst.i[to] = n.i[from]
	}
}

// picked returns numbers of a shape whose element at an index comes from the
// place in n that from gives.
func (n numbers) picked(shape []int, from func(index []int) int) numbers {
	out := n.like(shape)
	index := make([]int, len(shape))
	for to := range tensor.Count(shape) {
		n.put(out, to, from(index))
		for a := len(shape) - 1; a >= 0; a-- {
			if index[a]++; index[a] < shape[a] {
				break
			}
			index[a] = 0
		}
	}
	return out
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
