package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// A node may make a constant that is as long as the batch along some
// axis.

// expandsToBatch reports whether a node makes a constant that is as long as the batch along some axis.
func expandsToBatch(c *call, op string) bool {
	if !c.Tracked() || c.rowsInput == graph.None {
		return false
	}
	i := 0
	switch op {
	case "Expand", "Tile":
		i = 1
	case "ConstantOfShape":
	default:
		return false
	}
	return i < len(c.In) && c.In[i].HasLength()
}

// expandToBatch makes a constant with the same numbers in every row.
func expandToBatch(c *call) []node.Value {
	t, p, shape := readAlongBatch(c)
	if c.Err == nil && !element.IsFloat(t.DType) {
		c.Fail("%w", node.ErrLength)
	}
	t = c.ToF32(t)
	if c.Err != nil {
		return nil
	}
	v := c.everyRow(c.rowsInput, c.repeatedConstant(t), shape)
	c.Unbatched = true
	out := []node.Value{node.Rows(v)}
	c.resolveBatch(out, p)
	return out
}

// repeatedConstant declares the constant that a node repeats. The operand of an Expand keeps
// its name, because it may be a parameter, for example a class token. Any other constant has
// the name of the result.
func (c *call) repeatedConstant(t tensor.Tensor) graph.Value {
	if c.Proto.OpType == "ConstantOfShape" || !slices.Equal(t.Shape, c.In[0].Tensor.Shape) {
		return c.declare(c.Proto.Output[0], graph.Constant, t)
	}
	if c.isLifted(0) {
		return c.lift(c.Proto.Input[0], graph.Bias)
	}
	return c.declare(c.Proto.Input[0], c.learned(0, joined), t)
}

// repeatsIntegers reports whether a node makes integers that are the same in every row.
func repeatsIntegers(c *call, op string) bool {
	return op == "Expand" && expandsToBatch(c, op) && c.In[0].Tensor.DType == tensor.I64
}

// repeatIntegers makes integers that are the same in every row: their growth is 0.
func repeatIntegers(c *call) []node.Value {
	t, p, shape := readAlongBatch(c)
	if c.Err != nil {
		return nil
	}
	if l, _ := element.IntegersOf(t); slices.ContainsFunc(l, func(n int64) bool {
		_,
			ok := element.TimesBatch(n)
		return ok
	}) {
		c.Fail("%w", node.ErrLength)
		return nil
	}
	c.Unbatched = true
	return []node.Value{node.Growing(c.Gathered(t, shape, element.BroadcastIndex(t.Shape, len(shape))), 0, p)}
}

// readAlongBatch is like readBatchShape but with one more result: the shape to which the constant
// broadcasts for N = 1.
func readAlongBatch(c *call) (t tensor.Tensor, p node.BatchAxis, shape []int) {
	t, p, to := readBatchShape(c)
	if c.Err != nil {
		return t, p, nil
	}
	shape, err := graph.Broadcast(t.Shape, to)
	at := p.Axis - (len(to) - len(t.Shape))
	if err != nil || at >= 0 && t.Shape[at] != 1 {
		c.Fail("of %v to %v", t, to)
	}
	p.Axis += len(shape) - len(to)
	return t, p, shape
}

// readTile returns the constant of a Tile, repeated along all axes except the batch, and the
// shape of the result.
func readTile(c *call) (t tensor.Tensor, shape []int64) {
	l, _ := c.List("repeats", 1)
	one := *c
	one.In = slices.Clone(c.In)
	once := slices.Clone(l)
	for i, n := range l {
		if _, ok := element.TimesBatch(n); ok {
			once[i] = 1
		}
	}
	one.In[1] = node.Constant(tensor.Of(once, len(once)))
	t = fold.Tile(&one.Node)
	if c.Err = one.Err; c.Err != nil {
		return t, nil
	}
	for i, n := range t.Shape {
		if _, ok := element.TimesBatch(l[i]); ok {
			shape = append(shape, l[i])
		} else {
			shape = append(shape, int64(n))
		}
	}
	return t, shape
}

// readBatchShape returns the constant that an Expand or a ConstantOfShape repeats along the batch, the
// batch axis of the result, and the shape of the result for N = 1.
func readBatchShape(c *call) (t tensor.Tensor, p node.BatchAxis, shape []int) {
	var l []int64
	switch c.Proto.OpType {
	case "Expand":
		t = c.Required(0)
		l, _ = c.List("shape", 1)
	case "Tile":
		t, l = readTile(c)
	default:
		l, _ = element.IntegersOf(c.Required(0))
		t = fold.ReadFillingNumber(&c.Node)
	}
	p = node.BatchAxis{Axis: -1, Outer: 1, Inner: 1}
	for i, n := range l {
		if times, ok := element.TimesBatch(n); ok {
			if n = times; times != 1 || p.Axis >= 0 {
				c.Fail("%w", node.ErrLength)
			}
			p.Axis = i
		}
		shape = append(shape, int(min(max(n, 0), 1<<30)))
	}
	return t, p, shape
}
