package onnx

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"ArgMax": {attributes: accept(1, "axis keepdims select_last_index"), make: argMax,
			fold: fold.One(fold.Arg)},
	})
}

// If a file fixes the batch to 1, each row of a model's input is a separate run of the file. The
// batch axis of length 1 is then like any other: nodes may remove it, move it or join it with
// another. A value that begins with this axis has rows without it in the graph. All other values
// are unbatched: their rows have the whole shape that the file has. A reshape makes a value
// unbatched, or gives it its batch axis back, if an operator needs that. In files with an open or
// longer batch, unbatched values have a node.BatchAxis.

// checkPlaces refuses a Cast after an ArgMax to integers that cannot represent all indices. They
// would wrap around.
func checkPlaces(c *call, op string) {
	if op != "Cast" {
		return
	}
	d, err := onnxpb.DType(int32(c.Int("to", 0)))
	if within := c.Known(c.In[0]); err == nil && !element.IsFloat(d) && d != tensor.Bool && !within.Fits(d) {
		c.Fail("of places up to %g to %v is not supported: such integers end before", within.Most, d)
	}
}

// unifyBatch gives all operands that depend on the input the same form: all with a batch axis,
// or all unbatched.
func (c *call) unifyBatch(op string) error {
	unbatched := false
	for i, x := range c.In {
		if x.IsConstant() {
			continue
		}
		if x.IsScores() && (i > 0 || !table[op].traits.has(followsArgMax)) {
			return fmt.Errorf("takes the result of an ArgMax, which is supported only as an output")
		}
		unbatched = unbatched || x.Unbatched
	}
	if unbatched && !table[op].traits.has(needsBatch) {
		c.unbatch()
	} else if unbatched {
		c.rebatch()
	}
	return c.Err
}

// unbatch makes all operands that depend on the input unbatched.
func (c *call) unbatch() {
	c.Unbatched = true
	for i, x := range c.In {
		if x.IsConstant() || x.Unbatched {
			continue
		}
		x.V = c.node(graph.Reshape, ".whole", []graph.Value{x.V}, "shape", append([]int{1}, c.ShapeOf(x)...))
		x.Unbatched, x.BatchAxis = true, node.OfRows
		c.In[i] = x
	}
}

// rebatch gives all operands that depend on the input their batch axis back.
func (c *call) rebatch() {
	for i, x := range c.In {
		if x.IsConstant() || !x.Unbatched {
			continue
		}
		s := c.ShapeOf(x)
		if len(s) == 0 || s[0] != 1 || c.Tracked() {
			c.Fail("of a value of the shape %v, which has lost its batch axis, is not supported", s)
			return
		}
		x.V = c.withoutFirst(x.V)
		x.Unbatched = false
		c.In[i] = x
	}
}

// withoutFirst removes the first axis of each row of v. This axis is the file's batch, of
// length 1.
func (c *call) withoutFirst(v graph.Value) graph.Value {
	if v == graph.None || c.Err != nil {
		return graph.None
	}
	return c.node(graph.Reshape, ".batch", []graph.Value{v}, "shape", c.g.Type(v).Shape[1:])
}

// unbatchedShape converts a shape in the file to the shape of a row. If the first length is
// 1, it is the batch, and is left out.
func (c *call) unbatchedShape(shape []int) []int {
	c.Unbatched = len(shape) == 0 || shape[0] != 1 || c.Tracked()
	if c.Unbatched {
		return shape
	}
	return shape[1:]
}

// fileShape returns the shape of operand 0 in a file that fixes the batch to 1.
func (c *call) fileShape() []int {
	if c.Unbatched {
		return c.Shape(0)
	}
	return append([]int{1}, c.Shape(0)...)
}

// batchIsOne reports whether the batch axis may be removed, or has been removed.
func (c *call) batchIsOne() bool { return c.Unbatched || c.Batch == 1 }

// reshapeUnbatched reads a Reshape of a batch of 1 to any shape.
func reshapeUnbatched(c *call, target []int64) graph.Value {
	from := c.fileShape()
	if c.Tracked() {
		target, _, _ = batchaxis.ShapeForOne(&c.Node, target) // the rule of Reshape has reported the error
	}
	for i, n := range target {
		if times, ok := element.TimesBatch(n); ok {
			target = slices.Clone(target)
			target[i] = times
		}
	}
	shape, err := node.Resolve(target, from, c.Int("allowzero", 0) != 0)
	if err != nil {
		c.Fail("to %s: %w", element.Printed(target), err)
		return graph.None
	}
	return c.node(graph.Reshape, "", []graph.Value{c.Dynamic(0)}, "shape", c.unbatchedShape(shape))
}

// argMax returns the scores that it selects from if it selects a class for an output, because package
// predict selects the largest score anyway. Otherwise it returns the index of the largest element.
func argMax(c *call) []node.Value {
	s := c.Shape(0)
	axis := c.Axis(int64(c.Int("axis", 0)), len(s))
	if c.Err != nil {
		return nil
	}
	picked, from := slices.Clone(s), s
	if picked[axis] = 1; c.Int("keepdims", 1) == 0 {
		picked = slices.Delete(picked, axis, axis+1)
	}
	lead := 0 // axes before the classes, which are the batch of 1
	if c.Unbatched && !c.Tracked() && s[0] == 1 && axis > 0 {
		from, picked, lead = s[1:], picked[1:], 1
	}
	if tensor.Count(from) == s[axis] {
		from, lead = []int{s[axis]}, axis
	}
	if axis != lead || s[axis] < 2 || c.Unbatched && (c.Tracked() || s[0] != 1) ||
		c.Int("select_last_index", 0) != 0 || len(c.Proto.Output) != 1 || !c.endsInOutput(c.Proto.Output[0], 8) {
		return argExtreme(c)
	}
	out := c.In[0]
	if !slices.Equal(from, s) {
		out.V = c.node(graph.Reshape, ".scores", []graph.Value{out.V}, "shape", from)
	}
	c.Unbatched = false
	out.Form, out.Picked = node.Scores, picked
	return []node.Value{out}
}

// squeezeUnbatched reads a Squeeze of a batch of 1. The batch axis may be removed like any
// axis of length 1.
func squeezeUnbatched(c *call, axes []int64, hasAxes bool) graph.Value {
	from, unbatched := c.fileShape(), c.Unbatched
	drop := c.Dropped(from, axes, hasAxes)
	var shape []int
	for a, n := range from {
		if !drop[a] && (a > 0 || unbatched) {
			shape = append(shape, n)
		}
	}
	c.Unbatched = unbatched || len(drop) > 0 && drop[0]
	return c.node(graph.Reshape, "", []graph.Value{c.Dynamic(0)}, "shape", shape)
}
