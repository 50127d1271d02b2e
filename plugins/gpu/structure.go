package gpu

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// structureOps move elements and compute nothing.
var structureOps = map[graph.Op]func(c *compiler){
	graph.Concat:      buildConcat,
	graph.Slice:       buildSlice,
	graph.SliceGrad:   buildSliceGrad,
	graph.Pad:         buildPad,
	graph.Reshape:     buildReshape,
	graph.Transpose:   buildTranspose,
	graph.BroadcastTo: buildBroadcastTo,
	graph.Take:        buildTake,
	graph.TakeGrad:    buildTakeGrad,
}

// region is a set of elements of a unit: the element at from, and those at multiples of the strides from
// there.
type region struct {
	from    int
	strides []int
}

func all(v *value) region { return region{0, rowMajor(v.Shape)} }

// rowMajor returns the strides of a shape in row-major order: the last axis is the
// innermost.
func rowMajor(shape []int) []int {
	s, n := make([]int, len(shape)), 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = n
		n *= shape[i]
	}
	return s
}

// broadcast returns the strides with which a value of shape from is read as a value of shape to.
func broadcast(from, to []int) []int {
	strides, out := rowMajor(from), make([]int, len(to))
	for i, n := range from {
		if n > 1 {
			out[len(to)-len(from)+i] = strides[i]
		}
	}
	return out
}

// merged merges adjacent axes that every operand reads as if they were one, and removes axes of length
// 1. It returns the new shape and the new strides of each operand.
func merged(shape []int, strides ...[]int) [][]int {
	lists := make([][]int, 1+len(strides))
	for i, n := range shape {
		if n == 1 {
			continue
		}
		last, joins := len(lists[0])-1, len(lists[0]) > 0
		for k, s := range strides {
			joins = joins && lists[1+k][last] == n*s[i]
		}
		if joins {
			lists[0][last] *= n
		} else {
			lists[0], last = append(lists[0], n), last+1
		}
		for k, s := range strides {
			lists[1+k] = append(lists[1+k][:last], s[i])
		}
	}
	return lists
}

// move copies a region of x to a region of y. Both regions have the given shape.
func (c *compiler) move(x, y *value, shape []int, src, dst region) {
	kernel := map[int]string{1: "move1", 4: "move4", 8: "move8"}[y.DType.Size()]
	n := tensor.Count(shape)
	lists := merged(shape, src.strides, dst.strides)
	c.launch(kernel, y.Kind, n, x, y, c.exe.owner, c.table(lists...), n, len(lists[0]),
		src.from, dst.from, unitsOf(x, y.Kind), x.count, y.count)
}

// fill sets all elements of y to a number.
func (c *compiler) fill(y *value, v float64) {
	switch y.DType.Size() {
	case 8:
		c.launch("fill64", y.Kind, y.count, y, y.count, v)
		return
	case 1:
		c.launch("fill1", y.Kind, y.count, y, y.count, int(v))
		return
	}
	words := y.size() / 4
	c.launch("fill", y.Kind, words, y, words, int(int32(math.Float32bits(float32(v)))))
}

func buildConcat(c *compiler) {
	y, axis, begin := c.out(0), c.node.Int("axis"), 0
	for i := range c.node.In {
		x, dst := c.in(i), all(y)
		dst.from = begin * dst.strides[axis]
		c.move(x, y, x.Shape, all(x), dst)
		begin += x.Shape[axis]
	}
}

// sliced returns the part of v that the slice of the current node selects.
func (c *compiler) sliced(v *value) region {
	r := all(v)
	for axis, step := range c.node.SliceStep() {
		r.from += c.node.Ints("begin")[axis] * r.strides[axis]
		r.strides[axis] *= step
	}
	return r
}

func buildSlice(c *compiler) {
	x, y := c.in(0), c.out(0)
	c.move(x, y, y.Shape, c.sliced(x), all(y))
}

func buildSliceGrad(c *compiler) {
	dy, dx := c.in(0), c.out(0)
	c.fill(dx, 0)
	c.move(dy, dx, dy.Shape, all(dy), c.sliced(dx))
}

func buildPad(c *compiler) { c.pad(c.node.Float("value")) }

func buildPadInt8(c *compiler) { c.pad(float64(c.node.Int("zero"))) }

// pad surrounds the operand with a border of value v.
func (c *compiler) pad(v float64) {
	x, y := c.in(0), c.out(0)
	dst := all(y)
	for axis, n := range c.node.Ints("before") {
		dst.from += n * dst.strides[axis]
	}
	c.fill(y, v)
	c.move(x, y, x.Shape, all(x), dst)
}

func buildReshape(c *compiler) {
	x, y := c.in(0), c.out(0)
	flat := region{strides: []int{1}}
	c.move(x, y, []int{y.count}, flat, flat)
}

func buildTranspose(c *compiler) {
	x, y := c.in(0), c.out(0)
	from, src := rowMajor(x.Shape), region{}
	for _, axis := range c.node.Ints("perm") {
		src.strides = append(src.strides, from[axis])
	}
	c.move(x, y, y.Shape, src, all(y))
}

func buildBroadcastTo(c *compiler) {
	x, y := c.in(0), c.out(0)
	c.move(x, y, y.Shape, region{strides: broadcast(x.Shape, y.Shape)}, all(y))
}
