package graph

import "slices"

// decomposeTake makes take a concat of slices, one for each run of equal steps.
func decomposeTake(r *rewriter) {
	x, axis, index := r.in(0), r.node.Int("axis"), r.node.Ints("index")
	begins, steps := takeRuns(index, maxLength)
	ranges := make([]Value, len(steps))
	for i, step := range steps {
		ranges[i] = r.rangeOf(x, axis, index[begins[i]], index[begins[i+1]-1]+1, step)
	}
	r.last(Concat, ranges, "axis", axis)
}

// rangeOf slices an axis of x.
func (r *rewriter) rangeOf(x Value, axis, first, limit, step int) Value {
	s := r.Builder.Type(x).Shape
	begin, end, steps := make([]int, len(s)), slices.Clone(s), slices.Repeat([]int{1}, len(s))
	begin[axis], end[axis], steps[axis] = first, limit, step
	return r.op(Slice, "range", []Value{x}, "begin", begin, "end", end, "step", steps)
}

// decomposeTakeGrad adds the gradients of each run of neighbours, padded with zeros.
func decomposeTakeGrad(r *rewriter) {
	dy, axis, index := r.in(0), r.node.Int("axis"), r.node.Ints("index")
	begins, _ := takeRuns(index, 1)
	size := r.node.Ints("size")
	sum := None
	for i, first := range begins[:len(begins)-1] {
		before, after := make([]int, len(size)), make([]int, len(size))
		before[axis], after[axis] = index[first], size[axis]-1-index[begins[i+1]-1]
		chunk := r.rangeOf(dy, axis, first, begins[i+1], 1)
		chunk = r.op(Pad, "apart", []Value{chunk}, "before", before, "after", after)
		if sum != None {
			chunk = r.op(Add, "sum", []Value{sum, chunk})
		}
		sum = chunk
	}
	r.done(sum)
}
