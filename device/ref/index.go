package ref

import "github.com/bnctl/bnctl/tensor"

// walk visits the elements of a shape in row-major order. visit gets the number
// of the element and its coordinates, which are valid only during the call.
func walk(shape []int, visit func(i int, coordinates []int)) {
	coordinates := make([]int, len(shape))
	for i := range tensor.Count(shape) {
		visit(i, coordinates)
		for axis := len(shape) - 1; axis >= 0; axis-- {
			if coordinates[axis]++; coordinates[axis] < shape[axis] {
				break
			}
			coordinates[axis] = 0
		}
	}
}

// flat returns the number of the element at the given coordinates.
func flat(shape, coordinates []int) int {
	i := 0
	for axis, n := range shape {
		i = i*n + coordinates[axis]
	}
	return i
}

// broadcastIndex returns, for every element of the shape broadcast, the index of its source element in the
// original shape. Shapes are aligned at their last axes, and axes of length 1 are repeated.
func broadcastIndex(original, broadcast []int) []int {
	index := make([]int, tensor.Count(broadcast))
	source := make([]int, len(original))
	walk(broadcast, func(i int, at []int) {
		for axis, n := range original {
			source[axis] = at[len(broadcast)-len(original)+axis]
			if n == 1 {
				source[axis] = 0
			}
		}
		index[i] = flat(original, source)
	})
	return index
}

// gather sets every block of result 0 to elements of operand 0: element i is
// element index[i] of the operand, or fill where index[i] is negative.
func (c *call) gather(index []int, fill float64) {
	x, y := c.in(0), c.out(0)
	for n := range y.lead {
		if float(y.typ.DType) {
			pick(y.block(n), x.block(n), index, fill)
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
