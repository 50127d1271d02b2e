package onnx

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// normalised is (v - mean) / sqrt(variance + eps) over axes.
func (c *call) normalised(v graph.Value, axes []int, eps float64) graph.Value {
	mean := c.node(graph.ReduceMean, ".mean", []graph.Value{v}, "axes", axes, "keep", true)
	centred := c.node(graph.Sub, ".centred", []graph.Value{v, mean})
	squares := c.node(graph.Mul, ".squares", []graph.Value{centred, centred})
	variance := c.node(graph.ReduceMean, ".variance", []graph.Value{squares}, "axes", axes, "keep", true)
	variance = c.node(graph.Affine, ".eps", []graph.Value{variance}, "add", eps)
	return c.node(graph.Div, ".normalised", []graph.Value{centred,
		c.node(graph.Sqrt, ".std", []graph.Value{variance})})
}

// affinely multiplies by operand 1 and adds operand 2, which have a shape.
func (c *call) affinely(v graph.Value, shape []int) graph.Value {
	if !c.has(1) {
		c.fail("operand 1 is absent")
		return graph.None
	}
	if !c.has(2) {
		return c.node(graph.Mul, "", []graph.Value{v, c.state(1, graph.Constant, shape...)})
	}
	v = c.node(graph.Mul, ".scaled", []graph.Value{v, c.state(1, graph.Constant, shape...)})
	return c.node(graph.Add, "", []graph.Value{v, c.state(2, graph.Constant, shape...)})
}

// layerNorm normalises over an axis and all behind it.
func layerNorm(c *call) graph.Value {
	s := c.shape(0)
	axis := c.axis(int64(c.int("axis", -1)), len(s))
	if c.err != nil {
		return graph.None
	}
	var over []int
	for a := axis; a < len(s); a++ {
		over = append(over, a)
	}
	v := c.normalised(c.dynamic(0), over, shortest(c.float("epsilon", 1e-5)))
	scale, _ := c.constant(1)
	if shift, ok := c.constant(2); ok && shift.Count() != scale.Count() {
		c.fail("its scale is %v, its bias %v", scale, shift)
	}
	shape := c.aligned(scale.Shape, c.rank(0))
	if full, err := graph.Broadcast(s, shape); c.err == nil && (err != nil || !slices.Equal(full, s)) {
		c.fail("its scale is %v for %v", scale, s)
	}
	return c.affinely(v, shape)
}

// groupNorm normalises over groups of channels.
func groupNorm(c *call) graph.Value {
	s, groups := c.shape(0), c.int("num_groups", 0)
	if c.err == nil && (len(s) < 2 || groups < 1 || s[0]%groups != 0) {
		c.fail("of %v in %d groups", s, groups)
	}
	if c.err != nil {
		return graph.None
	}
	if c.opset < 21 { // a scale and a bias for each group
		return c.inGroups(s, groups, []int{groups, 1})
	}
	return c.inGroups(s, groups, append([]int{s[0]}, slices.Repeat([]int{1}, len(s)-1)...))
}

// instanceNorm normalises each channel.
func instanceNorm(c *call) graph.Value {
	s := c.shape(0)
	if c.err == nil && len(s) < 2 {
		c.fail("of %v", s)
	}
	if c.err != nil {
		return graph.None
	}
	return c.inGroups(s, s[0], append([]int{s[0]}, slices.Repeat([]int{1}, len(s)-1)...))
}

// inGroups normalises over groups of channels; scale and bias broadcast to the groups or to the
// value.
func (c *call) inGroups(s []int, groups int, scales []int) graph.Value {
	split := []int{groups, tensor.Count(s) / groups}
	v := c.node(graph.Reshape, ".groups", []graph.Value{c.dynamic(0)}, "shape", split)
	v = c.normalised(v, []int{1}, shortest(c.float("epsilon", 1e-5)))
	if len(scales) == 2 && len(s) != 2 {
		v = c.affinely(v, scales)
		return c.node(graph.Reshape, "", []graph.Value{v}, "shape", s)
	}
	v = c.node(graph.Reshape, ".shaped", []graph.Value{v}, "shape", s)
	return c.affinely(v, scales)
}

// lpNorm divides by the sum of sizes, or the root of the sum of squares, along
// an axis; what is zero stays so.
func lpNorm(c *call) graph.Value {
	s, p := c.shape(0), c.int("p", 2)
	axis := c.axis(int64(c.int("axis", -1)), len(s))
	if p != 1 && p != 2 {
		c.fail("with p=%d", p)
	}
	if c.err != nil {
		return graph.None
	}
	x, size := c.dynamic(0), graph.None
	if p == 1 {
		size = c.absolute(".size")
	} else {
		size = c.node(graph.Mul, ".squares", []graph.Value{x, x})
	}
	size = c.node(graph.ReduceSum, ".sum", []graph.Value{size}, "axes", []int{axis}, "keep", true)
	if p == 2 {
		size = c.node(graph.Sqrt, ".norm", []graph.Value{size})
	}
	size = c.node(graph.Clip, ".some", []graph.Value{size}, "min", 1e-38, "max", math.MaxFloat32)
	return c.node(graph.Div, "", []graph.Value{x, size})
}

// reduceOf is a reduction that is made of a sum: ReduceL1, ReduceL2,
// ReduceSumSquare, ReduceLogSum, ReduceLogSumExp.
func reduceOf(c *call) graph.Value {
	at := c.reduced()
	if c.err != nil {
		return graph.None
	}
	x, op := c.dynamic(0), c.n.OpType
	switch op {
	case "ReduceL1":
		x = c.absolute(".size")
	case "ReduceL2", "ReduceSumSquare":
		x = c.node(graph.Mul, ".squares", []graph.Value{x, x})
	case "ReduceLogSumExp":
		return c.logSumExp(x, at)
	}
	if len(at) > 0 {
		x = c.node(graph.ReduceSum, ".sum", []graph.Value{x}, "axes", at, "keep", c.int("keepdims", 1) != 0)
	}
	switch op {
	case "ReduceL2":
		return c.node(graph.Sqrt, "", []graph.Value{x})
	case "ReduceLogSum":
		return c.node(graph.Log, "", []graph.Value{x})
	}
	return x
}

// logSumExp takes the largest out of the sum, so that it stays finite.
func (c *call) logSumExp(x graph.Value, at []int) graph.Value {
	if len(at) == 0 {
		return x
	}
	s := c.g.Type(x).Shape
	ones := slices.Clone(s)
	for _, a := range at {
		ones[a] = 1
	}
	top := c.node(graph.Reshape, ".top", []graph.Value{c.pooled(x, s, at, false)}, "shape", ones)
	v := c.node(graph.Sub, ".below", []graph.Value{x, top})
	v = c.node(graph.Exp, ".exp", []graph.Value{v})
	v = c.node(graph.ReduceSum, ".sum", []graph.Value{v}, "axes", at, "keep", true)
	v = c.node(graph.Log, ".log", []graph.Value{v})
	v = c.node(graph.Add, ".above", []graph.Value{v, top})
	return c.dropAxes(v, s, at)
}

// reduceProd multiplies the slices of an axis.
func reduceProd(c *call) graph.Value {
	at, s := c.reduced(), slices.Clone(c.shape(0))
	if c.err != nil {
		return graph.None
	}
	v := c.dynamic(0)
	for _, a := range at {
		if s[a] > maxExtend {
			c.fail("of %d elements is not supported, only of at most %d", s[a], maxExtend)
			return graph.None
		}
		all := graph.None
		for i := range s[a] {
			one := c.gatherAxis(v, a, []int{i}, ".factor")
			if i > 0 {
				one = c.node(graph.Mul, ".product", []graph.Value{all, one})
			}
			all = one
		}
		v, s[a] = all, 1
	}
	return c.dropAxes(v, c.shape(0), at)
}

// dropAxes gives a value that has lengths of 1 at axes of a shape the shape that keepdims asks for.
func (c *call) dropAxes(v graph.Value, s, at []int) graph.Value {
	var shape []int
	for a, n := range s {
		if !slices.Contains(at, a) {
			shape = append(shape, n)
		} else if c.int("keepdims", 1) != 0 {
			shape = append(shape, 1)
		}
	}
	return c.node(graph.Reshape, "", []graph.Value{v}, "shape", shape)
}
