package onnx

import (
	"cmp"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"CumSum": {attributes: accept(2, "exclusive reverse"), refused: "an axis that is not constant",
			make: oneResult(cumSum), fold: fold.One(fold.CumSum), integers: computeWhole},
	})
}

// cumSum adds to each element all elements before it. It first adds the element at distance 1, then the
// sums at distances 2, 4 and so on. An element never affects those before it, even if it is not finite.
func cumSum(c *call) graph.Value {
	s := c.Shape(0)
	at, ok := cumSumAxis(c)
	if !ok {
		c.Fail("its axis is not one constant")
	}
	axis := c.Axis(at, len(s))
	x := c.Dynamic(0)
	if c.Err != nil {
		return graph.None
	}
	if c.Int("exclusive", 0) != 0 {
		x = shiftAxis(c, x, axis, 1)
	}
	for by := 1; by < s[axis]; by *= 2 {
		x = c.node(graph.Add, ".sum", []graph.Value{x, shiftAxis(c, x, axis, by)})
	}
	if s[axis] == 1 && c.Int("exclusive", 0) == 0 {
		return c.node(graph.Reshape, "", []graph.Value{x}, "shape", s)
	}
	return x
}

func cumSumAxis(c *call) (axis int64, ok bool) {
	if !c.Has(1) || !c.In[1].IsConstant() {
		return 0, false
	}
	l, err := element.IntegersOf(c.In[1].Tensor)
	if err != nil || len(l) != 1 {
		return 0, false
	}
	return l[0], true
}

// shiftAxis moves the elements of an axis towards its end, or with reverse towards its beginning.
// Zeros fill the gap.
func shiftAxis(c *call, x graph.Value, axis, distance int) graph.Value {
	if c.Err != nil {
		return graph.None
	}
	s := c.g.Type(x).Shape
	before, after, begin := make([]int, len(s)), make([]int, len(s)), make([]int, len(s))
	end := slices.Clone(s)
	if c.Int("reverse", 0) != 0 {
		after[axis], begin[axis], end[axis] = distance, distance, s[axis]+distance
	} else {
		before[axis] = distance
	}
	x = c.node(graph.Pad, ".shifted", []graph.Value{x}, "before", before, "after", after)
	return c.node(graph.Slice, ".moved", []graph.Value{x}, "begin", begin, "end", end)
}

// cumSumWhole adds integers. It returns nil if f32 may not represent a sum exactly.
func cumSumWhole(c *call) []node.Value {
	s, of := c.Shape(0), c.In[0].Extent()
	at, ok := cumSumAxis(c)
	if !ok || !of.IsExact() {
		return nil
	}
	axis := c.Axis(at, len(s))
	if c.Err != nil {
		return nil
	}
	within := boundsOfSum(of, s[axis])
	if !within.IsExact() || !within.Fits(cmp.Or(c.In[0].Kind, tensor.I64)) {
		return nil
	}
	out := c.integerRows(cumSum(c))
	out[0].Within = within
	return out
}

// boundsOfSum returns the bounds of sums of up to n integers within bounds.
func boundsOfSum(term *node.Extent, n int) *node.Extent {
	return &node.Extent{Least: min(term.Least, 0) * float64(n), Most: max(term.Most, 0) * float64(n)}
}
