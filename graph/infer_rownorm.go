package graph

import (
	"cmp"
	"fmt"
	"math"

	"github.com/bnctl/bnctl/tensor"
)

// span returns the attribute axes: at least one axis, all adjacent.
func (c *inference) span(shape []int) ([]int, error) {
	axes := c.node.Ints("axes")
	for i, a := range axes {
		if a != axes[0]+i || a < 0 || a >= len(shape) {
			return nil, fmt.Errorf("attribute axes is %v, want neighbouring axes of shape %v, increasing", axes, shape)
		}
	}
	if len(axes) == 0 {
		return nil, fmt.Errorf("attribute axes is empty, want those of shape %v to be normalised over", shape)
	}
	return axes, nil
}

// Lines returns the layout of the elements of a shape that n normalises together, a line: the number of its
// elements, and the distance between two of them. n is a layer_norm or its gradient.
func (n *Node) Lines(shape []int) (length, step int) {
	axes := n.Ints("axes")
	first, behind := axes[0], axes[0]+len(axes)
	return tensor.Count(shape[first:behind]), tensor.Count(shape[behind:])
}

// rowEps checks eps. 0 is permitted, as elsewhere: a line of equal elements becomes NaN
// then.
func (c *inference) rowEps() error {
	if e := c.node.Float("eps"); !(e >= 0) || math.IsInf(e, 0) {
		return fmt.Errorf("attribute eps is %g, want 0 or more", e)
	}
	return nil
}

// scaleAndBias checks the optional operands after x.
func (c *inference) scaleAndBias(shape []int) error {
	for i := 1; i < 3; i++ {
		if !c.has(i) {
			continue
		}
		if err := c.want(i, Whole, tensor.F32, shape); err != nil {
			return err
		}
	}
	return nil
}

func inferLayerNorm(c *inference) error {
	x, err := c.rows(0, -1)
	if err != nil {
		return err
	}
	axes, err := c.span(x)
	if err != nil {
		return err
	}
	if err := cmp.Or(c.scaleAndBias(x[axes[0]:axes[0]+len(axes)]), c.rowEps()); err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, x...)
}

func inferLayerNormGrad(c *inference) error {
	x, err := c.rows(0, -1)
	if err != nil {
		return err
	}
	_, err = c.span(x)
	if err := cmp.Or(err, c.want(1, Rows, tensor.F32, x), c.rowEps()); err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, x...)
}

// groups checks operand 0 and the attribute groups.
func (c *inference) groups() ([]int, error) {
	x, channels, err := c.channels(0)
	if err != nil {
		return nil, err
	}
	if g := c.node.Int("groups"); g < 1 || channels%g != 0 {
		return nil, fmt.Errorf("attribute groups is %d, want a divisor of the %d channels of %v", g, channels, x)
	}
	return x, c.rowEps()
}

func inferGroupNorm(c *inference) error {
	x, err := c.groups()
	if err != nil {
		return err
	}
	if err := c.scaleAndBias(x[:1]); err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, x...)
}

func inferGroupNormGrad(c *inference) error {
	x, err := c.groups()
	if err := cmp.Or(err, c.want(1, Rows, tensor.F32, x)); err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, x...)
}
