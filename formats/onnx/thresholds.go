package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"ThresholdedRelu": {attributes: accept(1, "alpha"), make: oneResult(thresholdedRelu),
			batch: batchaxis.Same},
		"Shrink":  {attributes: accept(1, "bias lambd"), make: oneResult(shrink), batch: batchaxis.Same},
		"Hardmax": {attributes: accept(1, "axis"), make: oneResult(hardmax), batch: batchaxis.Softmax},
	})
}

// thresholdedRelu returns x where it is above alpha, and 0 elsewhere.
func thresholdedRelu(c *call) graph.Value {
	above := c.compare(".above", "greater", c.Dynamic(0), c.number("alpha", shortest(c.Float("alpha", 1))))
	return c.node(graph.Where, "", []graph.Value{above, c.Dynamic(0), c.number("zero", 0)})
}

// shrink moves values with a magnitude above lambd towards 0 by bias. Other values become 0.
func shrink(c *call) graph.Value {
	lambd, bias := shortest(c.Float("lambd", 0.5)), shortest(c.Float("bias", 0))
	x, zero := c.Dynamic(0), c.number("zero", 0)
	below := c.compare(".below", "less", x, c.number("lower", -lambd))
	above := c.compare(".above", "greater", x, c.number("upper", lambd))
	up := c.node(graph.Affine, ".up", []graph.Value{x}, "add", bias)
	down := c.node(graph.Affine, ".down", []graph.Value{x}, "add", -bias)
	v := c.node(graph.Where, ".right", []graph.Value{above, down, zero})
	return c.node(graph.Where, "", []graph.Value{below, up, v})
}

// hardmax returns 1 for the first of the largest elements along an axis, and 0 for others. Up to
// operator set 12 all axes from this one on count as one.
func hardmax(c *call) graph.Value {
	s, def := c.Shape(0), -1
	if c.Opset < 13 {
		def = 1
	}
	axis := c.Axis(int64(c.Int("axis", def)), len(s))
	if c.Err != nil || len(s) == 0 {
		c.Fail("of a scalar")
		return graph.None
	}
	if c.Opset >= 13 || tensor.Count(s[axis+1:]) == 1 {
		return markFirstLargest(c, "", c.Dynamic(0), axis)
	}
	flat := append(slices.Clone(s[:axis]), tensor.Count(s[axis:]))
	v := c.node(graph.Reshape, ".flat", []graph.Value{c.Dynamic(0)}, "shape", flat)
	return c.node(graph.Reshape, "", []graph.Value{markFirstLargest(c, ".over", v, axis)}, "shape", s)
}

// markFirstLargest numbers the largest elements along an axis in reverse order, so that the first of
// them has the largest number.
func markFirstLargest(c *call, suffix string, x graph.Value, axis int) graph.Value {
	if c.Err != nil || x == graph.None {
		return graph.None
	}
	s := c.g.Type(x).Shape
	n := s[axis]
	if n > maxIndices {
		c.Fail("along an axis of %d is not supported, at most of %d", n, maxIndices)
		return graph.None
	}
	down := tensor.New(tensor.F32, append([]int{n}, slices.Repeat([]int{1}, len(s)-axis-1)...)...)
	for i := range n {
		down.F32()[i] = float32(n - i)
	}
	largest := func(suffix string, v graph.Value) graph.Value {
		return c.node(graph.ReduceMax, suffix, []graph.Value{v}, "axes", []int{axis}, "keep", true)
	}
	equal := c.compare(".equal", "equal", x, largest(".largest", x))
	order := c.node(graph.Mul, ".order", []graph.Value{equal, c.declare("numbers", graph.Constant, down)})
	first := c.compare(".first", "equal", order, largest(".highest", order))
	return c.node(graph.Mul, suffix, []graph.Value{first, equal})
}
