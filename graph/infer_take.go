package graph

import (
	"fmt"
	"slices"
)

// takeShape returns the shape that a Take makes of operand.
func (c *inference) takeShape(operand []int) ([]int, error) {
	axis, index := c.node.Int("axis"), c.node.Ints("index")
	if axis < 0 || axis >= len(operand) {
		return nil, fmt.Errorf("attribute axis is %d for rank %d", axis, len(operand))
	}
	if len(index) == 0 {
		return nil, fmt.Errorf("attribute index is empty, want at least one element")
	}
	for _, i := range index {
		if i < 0 || i >= operand[axis] {
			return nil, fmt.Errorf("attribute index has %d, want 0 to %d: axis %d of %v", i, operand[axis]-1, axis,
				operand)
		}
	}
	shape := slices.Clone(operand)
	shape[axis] = len(index)
	return shape, nil
}

func inferTake(c *inference) error {
	t := c.in(0)
	shape, err := c.takeShape(t.Shape)
	if err != nil {
		return err
	}
	return c.yield(t.Kind, t.DType, shape...)
}

func inferTakeGrad(c *inference) error {
	t, err := c.float(0)
	if err != nil {
		return err
	}
	size := c.node.Ints("size")
	shape, err := c.takeShape(size)
	if err != nil {
		return err
	}
	if !slices.Equal(shape, t.Shape) {
		return fmt.Errorf("gradient of shape %v does not come from a take of shape %v", t.Shape, shape)
	}
	return c.yield(t.Kind, t.DType, size...)
}

// takeRuns divides an index into runs of equal steps from 1 to maxStep. Each run is a slice. takeRuns returns
// the positions in the index where the runs begin, followed by the length of the index, and the steps of the
// runs.
func takeRuns(index []int, maxStep int) (begins, steps []int) {
	for i := 0; i < len(index); {
		n, step := 1, 1
		if i+1 < len(index) && index[i+1] > index[i] && index[i+1]-index[i] <= maxStep {
			step = index[i+1] - index[i]
			for i+n < len(index) && index[i+n]-index[i+n-1] == step {
				n++
			}
		}
		begins, steps = append(begins, i), append(steps, step)
		i += n
	}
	return append(begins, len(index)), steps
}
