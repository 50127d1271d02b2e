package onnx

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// In a file that fixes the batch to 1 every row is a batch of its own, and its axis of length 1 an
// axis like any other: it may be dropped, moved, joined along. Values that have it in front are
// rows without it here; the others are unbatched: their rows have the whole shape that the file
// has. A value becomes unbatched, or gets its batch axis back, by a reshape, where an operator
// wants it so. In files whose batch is open or longer unbatched values have a batchAxis: see there.

// batchedOps are the operators that want the batch axis in front; all others
// that become nodes take unbatched values: they count axes by call.axis, or none.
var batchedOps = []string{"Conv", "ConvTranspose", "BatchNormalization", "MaxPool", "AveragePool", "LpPool",
	"GlobalMaxPool", "GlobalAveragePool", "PRelu", "LRN", "DepthToSpace", "SpaceToDepth", "Resize", "Upsample",
	"InstanceNormalization", "GroupNormalization"}

func acceptsUnbatched(op string) bool { return !slices.Contains(batchedOps, op) }

// afterArgMax are the operators that may stand between an ArgMax and the output.
var afterArgMax = []string{"Identity", "Cast", "Squeeze", "Unsqueeze", "Reshape", "Flatten"}

// placesFit refuses a Cast behind an ArgMax to integers that do not have all places: they would wrap around.
func (c *call) placesFit(op string) {
	if op != "Cast" {
		return
	}
	d, err := onnxpb.DType(int32(c.int("to", 0)))
	if within := c.known(c.in[0]); err == nil && !element.IsFloat(d) && d != tensor.Bool && !within.fits(d) {
		c.fail("of places up to %g to %v is not supported: such integers end before", within.most, d)
	}
}

// unifyBatch brings the operands from the input into one form: with their batch
// axis, or all of them unbatched.
func (c *call) unifyBatch(op string) error {
	unbatched := false
	for i, x := range c.in {
		if x.isConstant() {
			continue
		}
		if x.fromArgMax && (i > 0 || !slices.Contains(afterArgMax, op)) {
			return fmt.Errorf("takes the result of an ArgMax, which is supported only as an output")
		}
		unbatched = unbatched || x.unbatched
	}
	if unbatched && acceptsUnbatched(op) {
		c.unbatch()
	} else if unbatched {
		c.rebatch()
	}
	return c.err
}

// unbatch makes all operands from the input unbatched.
func (c *call) unbatch() {
	c.unbatched = true
	for i, x := range c.in {
		if x.isConstant() || x.unbatched {
			continue
		}
		x.v = c.node(graph.Reshape, ".whole", []graph.Value{x.v}, "shape", append([]int{1}, c.shapeOf(x)...))
		x.unbatched, x.batchAxis = true, ofRows
		c.in[i] = x
	}
}

// rebatch gives all operands from the input their batch axis back.
func (c *call) rebatch() {
	for i, x := range c.in {
		if x.isConstant() || !x.unbatched {
			continue
		}
		s := c.shapeOf(x)
		if len(s) == 0 || s[0] != 1 || c.tracked() {
			c.fail("of a value of the shape %v, which has lost its batch axis, is not supported", s)
			return
		}
		x.v = c.withoutFirst(x.v)
		x.unbatched = false
		c.in[i] = x
	}
}

// withoutFirst drops the first axis of rows, of length 1: the batch's.
func (c *call) withoutFirst(v graph.Value) graph.Value {
	if v == graph.None || c.err != nil {
		return graph.None
	}
	return c.node(graph.Reshape, ".batch", []graph.Value{v}, "shape", c.g.Type(v).Shape[1:])
}

// unbatchedShape returns the shape of rows that stand for a whole shape of the file, in
// which a first length of 1 is the batch.
func (c *call) unbatchedShape(shape []int) []int {
	c.unbatched = len(shape) == 0 || shape[0] != 1 || c.tracked()
	if c.unbatched {
		return shape
	}
	return shape[1:]
}

// fileShape returns the shape that operand 0 has in a file that fixes the batch to 1.
func (c *call) fileShape() []int {
	if c.unbatched {
		return c.shape(0)
	}
	return append([]int{1}, c.shape(0)...)
}

// batchIsOne reports whether the batch may be dropped, or has been.
func (c *call) batchIsOne() bool { return c.unbatched || c.batch == 1 }

// reshapeUnbatched is Reshape of a batch of 1 to any shape.
func reshapeUnbatched(c *call, target []int64) graph.Value {
	from := c.fileShape()
	if c.tracked() {
		target, _, _ = shapeForOne(&c.Node, target) // its error was told by reshapedAxis
	}
	for i, n := range target {
		if times, ok := element.TimesBatch(n); ok {
			target = slices.Clone(target)
			target[i] = times
		}
	}
	shape, err := resolve(target, from, c.int("allowzero", 0) != 0)
	if err != nil {
		c.fail("to %s: %w", element.Printed(target), err)
		return graph.None
	}
	return c.node(graph.Reshape, "", []graph.Value{c.dynamic(0)}, "shape", c.unbatchedShape(shape))
}

// argMax passes on the scores that it selects from where it selects a class in front of an output: package
// predict selects the largest anyway. Elsewhere it is the place of the largest.
func argMax(c *call) []value {
	s := c.shape(0)
	axis := c.axis(int64(c.int("axis", 0)), len(s))
	if c.err != nil {
		return nil
	}
	picked, from := slices.Clone(s), s
	if picked[axis] = 1; c.int("keepdims", 1) == 0 {
		picked = slices.Delete(picked, axis, axis+1)
	}
	lead := 0 // axes in front of the classes, which are the batch of 1
	if c.unbatched && !c.tracked() && s[0] == 1 && axis > 0 {
		from, picked, lead = s[1:], picked[1:], 1
	}
	if tensor.Count(from) == s[axis] {
		from, lead = []int{s[axis]}, axis
	}
	if axis != lead || s[axis] < 2 || c.unbatched && (c.tracked() || s[0] != 1) ||
		c.int("select_last_index", 0) != 0 || len(c.n.Output) != 1 || !c.endsIn(c.n.Output[0], afterArgMax, 8) {
		return argExtreme(c)
	}
	out := c.in[0]
	if !slices.Equal(from, s) {
		out.v = c.node(graph.Reshape, ".scores", []graph.Value{out.v}, "shape", from)
	}
	c.unbatched = false
	out.fromArgMax, out.picked = true, picked
	return []value{out}
}

// squeezeUnbatched is Squeeze of a batch of 1, which may go as any axis of 1.
func squeezeUnbatched(c *call, axes []int64, given bool) graph.Value {
	from, unbatched := c.fileShape(), c.unbatched
	drop := c.dropped(from, axes, given)
	var shape []int
	for a, n := range from {
		if !drop[a] && (a > 0 || unbatched) {
			shape = append(shape, n)
		}
	}
	c.unbatched = unbatched || len(drop) > 0 && drop[0]
	return c.node(graph.Reshape, "", []graph.Value{c.dynamic(0)}, "shape", shape)
}
