package layout

import (
	"slices"

	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// Walk visits the elements of a shape in three regions at once, as runs of n elements. a, b and c are the
// strides of the regions; nil for a region that is not used. visit receives, for each region, the start of
// the run and the distance between elements. The axis with the smallest stride in a is the innermost.
func Walk(shape, a, b, c []int, visit func(n, a, b, c, stepA, stepB, stepC int)) {
	WalkPiece(shape, a, b, c, 0, 1, visit)
}

// WalkPiece does the same as Walk for one part of the outermost axis, which is divided into pieces parts.
func WalkPiece(shape, a, b, c []int, piece, pieces int, visit func(n, a, b, c, stepA, stepB, stepC int)) {
	if slices.Contains(shape, 0) || len(shape) == 0 && piece > 0 {
		return
	}
	shape, a, b, c = merged(shape, a, b, c)
	order := make([]int, len(shape))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		if (shape[i] == 1) != (shape[j] == 1) { // axes of length 1 come first
			return shape[i] - shape[j]
		}
		return a[j] - a[i]
	})
	at := func(strides []int, axis int) int {
		if strides == nil {
			return 0
		}
		return strides[axis]
	}
	outermost := 0 // the first axis with a length other than 1
	for outermost < len(order)-1 && shape[order[outermost]] == 1 {
		outermost++
	}
	span := func(level int) (from, to int) {
		n := shape[order[level]]
		if level != outermost {
			return 0, n
		}
		return schedule.RangeOf(piece, pieces, n)
	}
	var visitAxis func(level, i, j, k int)
	visitAxis = func(level, i, j, k int) {
		switch {
		case len(order) == 0:
			visit(1, i, j, k, 1, 1, 1)
		case level == len(order)-1:
			x := order[level]
			if from, to := span(level); from < to {
				visit(to-from, i+from*at(a, x), j+from*at(b, x), k+from*at(c, x), at(a, x), at(b, x), at(c, x))
			}
		default:
			x := order[level]
			for n, to := span(level); n < to; n++ {
				visitAxis(level+1, i+n*at(a, x), j+n*at(b, x), k+n*at(c, x))
			}
		}
	}
	visitAxis(0, 0, 0, 0)
}

// merged returns a shape with fewer axes and the strides for it, so that runs are longer. It joins two axes
// if they can be visited as one axis in all regions.
func merged(shape, a, b, c []int) (_, _, _, _ []int) {
	follows := func(strides []int, i, j int) bool { return strides == nil || strides[i] == shape[j]*strides[j] }
	last := len(shape) - 1
	for i := 0; i < last; i++ {
		if shape[i] != 1 && shape[i+1] != 1 && follows(a, i, i+1) && follows(b, i, i+1) && follows(c, i, i+1) {
			shape = slices.Concat(shape[:i], []int{shape[i] * shape[i+1]}, shape[i+2:])
			without := func(strides []int) []int {
				if strides == nil {
					return nil
				}
				return slices.Delete(slices.Clone(strides), i, i+1)
			}
			a, b, c = without(a), without(b), without(c)
			i, last = max(i-2, -1), last-1
		}
	}
	return shape, a, b, c
}

// RowMajor returns the strides of a shape with the last axis innermost.
func RowMajor(shape []int) []int {
	s, n := make([]int, len(shape)), 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = n
		n *= shape[i]
	}
	return s
}
