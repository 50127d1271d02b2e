package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

func foldGather(c *call) numbers {
	n, index := c.numbers(0), c.numbers(1)
	if c.err != nil || index.f != nil {
		c.fail("its indices are not integers")
		return n
	}
	axis := c.foldAxis(int64(c.int("axis", 0)), len(n.shape))
	if c.err != nil {
		return n
	}
	for _, i := range index.i {
		if i < -int64(n.shape[axis]) || i >= int64(n.shape[axis]) {
			c.fail("index %d of an axis of %d", i, n.shape[axis])
			return n
		}
	}
	shape := slices.Concat(n.shape[:axis], index.shape, n.shape[axis+1:])
	if !c.takes(n.dtype(), shape) {
		return n
	}
	step, inner := strides(n.shape), strides(index.shape)
	return n.picked(shape, func(at []int) int {
		from, which := 0, 0
		for a := range at {
			switch {
			case a < axis:
				from += at[a] * step[a]
			case a < axis+len(index.shape):
				which += at[a] * inner[a-axis]
			default:
				from += at[a] * step[a-len(index.shape)+1]
			}
		}
		i := int(index.i[which])
		if i < 0 {
			i += n.shape[axis]
		}
		return from + i*step[axis]
	})
}

func foldSlice(c *call) numbers {
	n := c.numbers(0)
	spans := c.spans(n.shape, func(a int64) int { return c.foldAxis(a, len(n.shape)) })
	shape := make([]int, len(spans))
	for a, s := range spans {
		shape[a] = s.count
	}
	if c.err != nil || !c.takes(n.dtype(), shape) {
		return n
	}
	step := strides(n.shape)
	return n.picked(shape, func(at []int) int {
		from := 0
		for a := range at {
			from += (spans[a].begin + at[a]*spans[a].step) * step[a]
		}
		return from
	})
}

// foldConcat joins along the first axis, which is how shapes are joined, or any other.
func foldConcat(c *call) numbers {
	all := make([]numbers, max(len(c.in), 1)) // without operands the first is missed
	for i := range all {
		all[i] = c.numbers(i)
	}
	if c.err != nil {
		return numbers{}
	}
	axis := c.foldAxis(int64(c.int("axis", 1)), len(all[0].shape))
	shape := slices.Clone(all[0].shape)
	for i, n := range all[1:] {
		same := len(n.shape) == len(shape) && (n.f == nil) == (all[0].f == nil)
		for a := range shape {
			same = same && (a == axis || n.shape[a] == shape[a])
		}
		if !same || c.err != nil {
			c.fail("operand %d has the shape %v or type, operand 0 %v", i+1, n.shape, shape)
			return numbers{}
		}
		shape[axis] += n.shape[axis]
	}
	if c.err != nil || !c.takes(all[0].dtype(), shape) {
		return numbers{}
	}
	return joined(all, shape, axis)
}

func joined(all []numbers, shape []int, axis int) numbers {
	out := all[0].like(shape)
	outer, to := tensor.Count(shape[:axis]), 0
	for o := range outer {
		for _, n := range all {
			block := tensor.Count(n.shape[axis:])
			for k := range block {
				n.put(out, to, o*block+k)
				to++
			}
		}
	}
	return out
}

func foldTranspose(c *call) numbers {
	n := c.numbers(0)
	rank := len(n.shape)
	perm := make([]int, rank)
	for a := range perm {
		perm[a] = rank - 1 - a
	}
	if c.attribute("perm") != nil {
		perm = c.ints("perm", rank, 0)
	}
	shape := make([]int, rank)
	for i, a := range perm {
		if a < 0 || a >= rank || slices.Contains(perm[:i], a) {
			c.fail("attribute perm is %v for rank %d", perm, rank)
			return n
		}
		shape[i] = n.shape[a]
	}
	if c.err != nil || !c.takes(n.dtype(), shape) {
		return n
	}
	step := strides(n.shape)
	return n.picked(shape, func(at []int) int {
		from := 0
		for i, a := range perm {
			from += at[i] * step[a]
		}
		return from
	})
}
