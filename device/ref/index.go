package ref

import "github.com/bnctl/bnctl/tensor"

// walk visits the elements of a shape in row-major order. visit gets the number
// of the element and its coordinates, which are valid only during the call.
func walk(shape []int, visit func(i int, at []int)) {
	at := make([]int, len(shape))
	for i := range tensor.Count(shape) {
		visit(i, at)
		for axis := len(shape) - 1; axis >= 0; axis-- {
			if at[axis]++; at[axis] < shape[axis] {
				break
			}
			at[axis] = 0
		}
	}
}

// flat returns the number of the element at coordinates at.
func flat(shape, at []int) int {
	i := 0
	for axis, n := range shape {
		i = i*n + at[axis]
	}
	return i
}

// broadcastIndex returns, for every element of the broadcast shape (to), the index of its
// source element in the original shape (from). Shapes are aligned at their last axes, and axes
// of length 1 are repeated.
func broadcastIndex(from, to []int) []int {
	index := make([]int, tensor.Count(to))
	source := make([]int, len(from))
	walk(to, func(i int, at []int) {
		for axis, n := range from {
			source[axis] = at[len(to)-len(from)+axis]
			if n == 1 {
				source[axis] = 0
			}
		}
		index[i] = flat(from, source)
	})
	return index
}

// gather sets every block of result 0 to elements of operand 0: element i is
// element index[i] of the operand, or fill where index[i] is negative.
func (c *call) gather(index []int, fill float64) {
	x, y := c.in(0), c.out(0)
	for n := range y.lead {
		if float(y.typ.DType) {
			pick(y.at(n), x.at(n), index, fill)
		} else {
			pick(y.ints(n), x.ints(n), index, int64(fill))
		}
	}
}

func pick[T int64 | float64](dst, src []T, index []int, fill T) {
	for i, from := range index {
		if from < 0 {
			dst[i] = fill
		} else {
			dst[i] = src[from]
		}
	}
}
