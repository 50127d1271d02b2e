package ref

import "github.com/bnctl/bnctl/tensor"

func concat(c *call) {
	concatLines(c, func(a *array) []float64 { return a.f })
}

// concatLines copies the lines of the operands to the result, side by side.
func concatLines[T int64 | float64](c *call, elements func(*array) []T) {
	y, axis := c.out(0), c.Int("axis")
	inner := tensor.Count(y.typ.Shape[axis+1:])
	begin := 0 // index in the operand, along the axis
	for k := range c.In {
		x := c.in(k)
		length := x.typ.Shape[axis] * inner
		for i := range x.lead * x.size / length { // lines of the operand
			copy(elements(y)[i*y.typ.Shape[axis]*inner+begin:], elements(x)[i*length:(i+1)*length])
		}
		begin += length
	}
}

// sliced returns, for every element of a slice, the index of its source element in the original shape.
func (c *call) sliced(original, shape []int) []int {
	begin, step := c.Ints("begin"), c.SliceStep()
	index, source := make([]int, tensor.Count(shape)), make([]int, len(original))
	walk(shape, func(i int, at []int) {
		for axis := range original {
			source[axis] = begin[axis] + at[axis]*step[axis]
		}
		index[i] = flat(original, source)
	})
	return index
}

func slice(c *call) {
	c.gather(c.sliced(c.in(0).typ.Shape, c.out(0).typ.Shape), 0)
}

func sliceGrad(c *call) {
	dy, dx := c.in(0), c.out(0)
	index := c.sliced(dx.typ.Shape, dy.typ.Shape)
	for n := range dx.lead {
		for i, v := range dy.block(n) {
			dx.block(n)[index[i]] = v
		}
	}
}

// taken returns, for every element of the result of a take, the index of its source element in the original
// shape.
func (c *call) taken(original, shape []int) []int {
	axis, indices := c.Int("axis"), c.Ints("index")
	index, source := make([]int, tensor.Count(shape)), make([]int, len(original))
	walk(shape, func(i int, at []int) {
		copy(source, at)
		source[axis] = indices[at[axis]]
		index[i] = flat(original, source)
	})
	return index
}

func take(c *call) {
	c.gather(c.taken(c.in(0).typ.Shape, c.out(0).typ.Shape), 0)
}

func takeGrad(c *call) {
	dy, dx := c.in(0), c.out(0)
	index := c.taken(dx.typ.Shape, dy.typ.Shape)
	for n := range dx.lead {
		for i, v := range dy.block(n) {
			dx.block(n)[index[i]] += v
		}
	}
}

func pad(c *call) { c.padded(c.Float("value")) }

func padInt8(c *call) { c.padded(float64(c.Int("zero"))) }

// padded sets the result to value, and copies the operand into it.
func (c *call) padded(value float64) {
	from, to, before := c.in(0).typ.Shape, c.out(0).typ.Shape, c.Ints("before")
	index, source := make([]int, c.out(0).size), make([]int, len(from))
	walk(to, func(i int, at []int) {
		inside := true
		for axis := range from {
			source[axis] = at[axis] - before[axis]
			inside = inside && source[axis] >= 0 && source[axis] < from[axis]
		}
		index[i] = -1
		if inside {
			index[i] = flat(from, source)
		}
	})
	c.gather(index, value)
}

func reshape(c *call) {
	copy(c.out(0).f, c.in(0).f)
	copy(c.out(0).i, c.in(0).i)
}

func transpose(c *call) {
	from, perm := c.in(0).typ.Shape, c.Ints("perm")
	index, source := make([]int, c.in(0).size), make([]int, len(from))
	walk(c.out(0).typ.Shape, func(i int, at []int) {
		for axis, p := range perm {
			source[p] = at[axis]
		}
		index[i] = flat(from, source)
	})
	c.gather(index, 0)
}
