package element

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/tensor"
)

// Gather returns a tensor of the given shape with elements of t. offset returns the offset in t of the
// element at an index of the result. If the offset is negative, the element is zero.
func Gather(t tensor.Tensor, shape []int, offset func(index []int) int) tensor.Tensor {
	out := tensor.New(t.DType, shape...)
	Each(shape, func(to int, index []int) {
		if k := offset(index); k >= 0 {
			Move(out, to, t, k)
		}
	})
	return out
}

// Move copies the element srcIndex of t to element dstIndex of dst. Both tensors have the same type.
func Move(dst tensor.Tensor, dstIndex int, t tensor.Tensor, srcIndex int) {
	n := t.DType.Size()
	copy(dst.Bytes[dstIndex*n:(dstIndex+1)*n], t.Bytes[srcIndex*n:])
}

// Each calls f for all elements of a shape in their order.
func Each(shape []int, f func(k int, index []int)) {
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

// Strides returns the distance between neighbouring elements along each axis.
func Strides(shape []int) []int {
	out, n := make([]int, len(shape)), 1
	for a := len(shape) - 1; a >= 0; a-- {
		out[a] = n
		n *= shape[a]
	}
	return out
}

// BroadcastIndex returns a function from an index of the broadcast shape to the offset of
// its element in a tensor of the given shape.
func BroadcastIndex(shape []int, rank int) func(index []int) int {
	skip, step := rank-len(shape), Strides(shape)
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

// Indices returns 0 to n-1.
func Indices(n int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = i
	}
	return l
}

// Lengths checks the dims of a tensor and the number of bytes that they need.
func Lengths(d tensor.DType, dims []int64) ([]int, error) {
	shape := make([]int, len(dims))
	for i, n := range dims {
		if n < 0 || n > math.MaxInt32 {
			return nil, fmt.Errorf("a length of %d in the shape %v", n, dims)
		}
		shape[i] = int(n)
	}
	return shape, tensor.CheckShape(d, shape)
}
