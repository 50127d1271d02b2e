package graph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

func inferConcat(c *inference) error {
	first, err := c.float(0)
	if err != nil {
		return err
	}
	return c.concat(first)
}

// concat infers the type of a concatenation.
func (c *inference) concat(first Type) error {
	axis, shape := c.node.Int("axis"), slices.Clone(first.Shape)
	if axis < 0 || axis >= len(shape) {
		return fmt.Errorf("attribute axis is %d for rank %d", axis, len(shape))
	}
	for i := 1; i < len(c.node.In); i++ {
		t := c.in(i)
		if t.Kind != first.Kind || t.DType != first.DType || len(t.Shape) != len(shape) {
			return fmt.Errorf("operand %d is %v, operand 0 %v", i, t, first)
		}
		for a := range shape {
			if a != axis && t.Shape[a] != shape[a] {
				return fmt.Errorf("operand %d has shape %v, operand 0 %v: they differ on axis %d",
					i, t.Shape, first.Shape, a)
			}
		}
		shape[axis] += t.Shape[axis]
	}
	return c.yield(first.Kind, first.DType, shape...)
}

// sliceShape returns the shape of a slice of the shape operand.
func (c *inference) sliceShape(operand []int) ([]int, error) {
	begin, err := c.wantInts("begin", len(operand), 0)
	if err != nil {
		return nil, err
	}
	end, err := c.wantInts("end", len(operand), 0)
	if err != nil {
		return nil, err
	}
	step := c.node.SliceStep()
	if len(step) != len(operand) || len(step) > 0 && slices.Min(step) < 1 {
		return nil, fmt.Errorf("attribute step is %v, want %d elements of at least 1", step, len(operand))
	}
	shape := make([]int, len(operand))
	for i := range operand {
		if begin[i] >= end[i] || end[i] > operand[i] {
			return nil, fmt.Errorf("slice [%d, %d) of an axis of %d: want one element of it at least", begin[i],
				end[i], operand[i])
		}
		shape[i] = (end[i] - begin[i] + step[i] - 1) / step[i]
	}
	return shape, nil
}

// SliceStep returns the attribute step of a Slice or SliceGrad; all 1 if it was not given.
func (n *Node) SliceStep() []int {
	if s := n.Ints("step"); len(s) > 0 {
		return s
	}
	return slices.Repeat([]int{1}, len(n.Ints("begin")))
}

func inferSlice(c *inference) error {
	t := c.in(0)
	shape, err := c.sliceShape(t.Shape)
	if err != nil {
		return err
	}
	return c.yield(t.Kind, t.DType, shape...)
}

func inferSliceGrad(c *inference) error {
	t, err := c.float(0)
	if err != nil {
		return err
	}
	size := c.node.Ints("size")
	shape, err := c.sliceShape(size)
	if err != nil {
		return err
	}
	if !slices.Equal(shape, t.Shape) {
		return fmt.Errorf("gradient of shape %v does not come from a slice of shape %v", t.Shape, shape)
	}
	return c.yield(t.Kind, t.DType, size...)
}

func inferPad(c *inference) error {
	t, err := c.float(0)
	if err != nil {
		return err
	}
	return c.pad(t)
}

// pad infers the type of t with elements added around it.
func (c *inference) pad(t Type) error {
	before, err := c.wantInts("before", len(t.Shape), 0)
	if err != nil {
		return err
	}
	after, err := c.wantInts("after", len(t.Shape), 0)
	if err != nil {
		return err
	}
	shape := slices.Clone(t.Shape)
	for i := range shape {
		shape[i] += before[i] + after[i]
	}
	return c.yield(t.Kind, t.DType, shape...)
}

func inferReshape(c *inference) error {
	t, shape := c.in(0), c.node.Ints("shape")
	for _, n := range shape {
		if n < 1 {
			return fmt.Errorf("attribute shape is %v", shape)
		}
	}
	if err := tensor.CheckShape(t.DType, shape); err != nil {
		return err
	}
	if tensor.Count(shape) != tensor.Count(t.Shape) {
		return fmt.Errorf("shape %v does not hold the %d elements of %v", shape, tensor.Count(t.Shape), t.Shape)
	}
	return c.yield(t.Kind, t.DType, shape...)
}

func inferTranspose(c *inference) error {
	t, perm := c.in(0), c.node.Ints("perm")
	shape, seen := make([]int, len(perm)), make([]bool, len(perm))
	for i, p := range perm {
		if p < 0 || p >= len(perm) || len(perm) != len(t.Shape) || seen[p] {
			return fmt.Errorf("attribute perm is %v for rank %d", perm, len(t.Shape))
		}
		seen[p], shape[i] = true, t.Shape[p]
	}
	if len(perm) != len(t.Shape) {
		return fmt.Errorf("attribute perm is %v for rank %d", perm, len(t.Shape))
	}
	return c.yield(t.Kind, t.DType, shape...)
}

func inferUpsample(c *inference) error { return c.resize("size") }

func inferUpsampleGrad(c *inference) error { return c.resize("from") }

func (c *inference) resize(key string) error {
	x, err := c.rows(0, 3)
	if err != nil {
		return err
	}
	size, err := c.wantInts(key, 2, 1)
	if err := cmp.Or(err, c.oneOf("mode", "nearest", "bilinear")); err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, x[0], size[0], size[1])
}

func inferDropout(c *inference) error {
	if p := c.node.Float("p"); !(p >= 0 && p < 1) {
		return fmt.Errorf("attribute p is %g, want at least 0 and less than 1", p)
	}
	if err := c.oneOf("each", "element", "sample"); err != nil {
		return err
	}
	if c.has(1) && c.node.Text("each") == "sample" {
		return fmt.Errorf("attribute each is \"sample\": that stands in templates alone; training drops one " +
			"number of each sample, and multiplies")
	}
	if c.has(1) {
		if err := c.want(1, Rows, tensor.I64, []int{2}); err != nil {
			return err
		}
	}
	x, err := c.rows(0, -1)
	if err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, x...)
}
