package batchaxis

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/tensor"
)

// ShapeForOne returns the target shape for N = 1 of a Reshape of a value with a BatchAxis, and the
// axis that contains N: the file computes its length from N, or copies it. The axis is -1 if no
// length contains N.
func ShapeForOne(c *node.Node, target []int64) (shape []int64, axis int, err error) {
	shape, axis = slices.Clone(target), -1
	zero, s := c.Int("allowzero", 0) != 0, c.Shape(0)
	for i, n := range target {
		times, ok := element.TimesBatch(n)
		copied := n == 0 && !zero && i == c.In[0].BatchAxis.Axis
		if ok {
			shape[i] = times
		} else if copied && i < len(s) {
			shape[i] = int64(s[i])
		}
		if !ok && !copied {
			continue
		}
		if axis >= 0 {
			return nil, 0, node.ErrMixes
		}
		axis = i
	}
	if axis < 0 && c.Batch > 1 {
		return shapeForFixed(c, target)
	}
	if axis < 0 {
		axis = slices.Index(shape, -1)
	}
	if axis < 0 {
		err = node.ErrMixes
	}
	return shape, axis, err
}

// shapeForFixed does the same as ShapeForOne for a file with a fixed batch. The length of the batch is a
// factor of the length of one axis of the target: the axis along which the rows follow one
// another.
func shapeForFixed(c *node.Node, target []int64) (shape []int64, axis int, err error) {
	p, from := c.In[0].BatchAxis, slices.Clone(c.Shape(0))
	next := p.Inner * tensor.Count(from[p.Axis+1:])
	from[p.Axis] *= int(c.Batch)
	full, err := node.Resolve(target, from, c.Int("allowzero", 0) != 0)
	if err != nil {
		return nil, 0, err
	}
	behind := 1
	for axis, n := range slices.Backward(full) {
		if next < behind*n && n%int(c.Batch) == 0 {
			full[axis] /= int(c.Batch)
			return element.Widened(full), axis, nil
		} else if next < behind*n {
			break
		}
		behind *= n
	}
	return nil, 0, fmt.Errorf("to %s mixes the rows of the batch", element.Printed(target))
}

// Reshaped is the rule for Reshape: the numbers of elements before and after N must stay the same.
func Reshaped(c *node.Node) (node.BatchAxis, error) {
	target, ok := c.List("shape", 1)
	if !ok || c.Err != nil {
		return node.BatchAxis{}, node.ErrMixes
	}
	p, from := c.In[0].BatchAxis, c.Shape(0)
	one, axis, err := ShapeForOne(c, target)
	if err != nil {
		return node.BatchAxis{}, err
	}
	to, err := node.Resolve(one, from, c.Int("allowzero", 0) != 0)
	if err != nil {
		return node.BatchAxis{}, err
	}
	return batchAxisIn(c, to, axis, p, from)
}

// batchAxisIn returns the batch axis of a value after a reshape to newShape. axis is the number of the axis
// of newShape that contains N.
func batchAxisIn(c *node.Node, newShape []int, axis int, p node.BatchAxis, oldShape []int) (node.BatchAxis,
	error) {
	inner, behind := p.Inner*tensor.Count(oldShape[p.Axis+1:]), tensor.Count(newShape[axis+1:])
	if behind == 0 || inner%behind != 0 || inner == 0 || newShape[axis]%(inner/behind) != 0 {
		return node.BatchAxis{}, fmt.Errorf("to %v mixes the rows of the batch", newShape)
	}
	inner /= behind
	return node.BatchAxis{Axis: axis, Outer: newShape[axis] / inner, Inner: inner}, nil
}

// Flattened is the rule of Flatten.
func Flattened(c *node.Node) (node.BatchAxis, error) {
	p, from, axis := c.In[0].BatchAxis, c.Shape(0), c.Int("axis", 1)
	if axis < 0 {
		axis += len(from)
	}
	if axis < 0 || axis > len(from) {
		return node.BatchAxis{}, node.ErrMixes
	}
	to := []int{tensor.Count(from[:axis]), tensor.Count(from[axis:])}
	at := 0
	if p.Axis >= axis {
		at = 1
	}
	return batchAxisIn(c, to, at, p, from)
}
