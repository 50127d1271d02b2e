package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// pad adds elements around a value: of one number, mirrored, or those of the
// edge. A negative length cuts.
func pad(c *call) graph.Value {
	s := c.shape(0)
	before, after := c.padding(c.rank(0), func(a int64) int { return c.axis(a, len(s)) }, len(s))
	if c.err != nil {
		return graph.None
	}
	x, s := c.cropped(c.dynamic(0), s, before, after)
	switch mode := c.text("mode", "constant"); mode {
	case "constant":
		value, ok := c.scalar("value", 2)
		if !ok {
			value = 0
		}
		return c.node(graph.Pad, "", []graph.Value{x}, "before", before, "after", after, "value", shortest(value))
	case "reflect", "edge":
		for a := range s {
			x = c.extend(x, s, a, before[a], after[a], mode == "reflect")
			s[a] += before[a] + after[a]
		}
		return x
	default:
		c.fail("mode is %.40q", mode)
	}
	return graph.None
}

// padding reads the lengths at both ends of rank axes, of which the graph has n: axis maps an axis
// of ONNX to one of them.
func (c *call) padding(rank int, axis func(int64) int, n int) (before, after []int) {
	before, after = make([]int, n), make([]int, n)
	pads, _ := c.list("pads", 1)
	axisCount := rank
	axes, given := c.list("axes", 3)
	if given {
		axisCount = len(axes)
	}
	if len(pads) != 2*axisCount {
		c.fail("%d pads for %d axes", len(pads), axisCount)
	}
	for i := 0; i < axisCount && c.err == nil; i++ {
		a := int64(i)
		if given {
			a = axes[i]
		}
		b, e := pads[i], pads[i+axisCount]
		switch {
		case min(b, e) < -1<<30 || max(b, e) > 1<<30:
			c.fail("pads are %v", pads)
		case b != 0 || e != 0:
			if at := axis(a); c.err == nil {
				before[at], after[at] = int(b), int(e)
			}
		}
	}
	return before, after
}

// cropped cuts what is negative and sets it to 0.
func (c *call) cropped(x graph.Value, shape, before, after []int) (graph.Value, []int) {
	shape = slices.Clone(shape)
	if len(shape) == 0 || min(slices.Min(before), slices.Min(after)) >= 0 {
		return x, shape
	}
	begin, end := make([]int, len(shape)), slices.Clone(shape)
	for a := range shape {
		begin[a] = max(-before[a], 0)
		end[a] -= max(-after[a], 0)
		before[a], after[a] = max(before[a], 0), max(after[a], 0)
		shape[a] = end[a] - begin[a]
	}
	return c.node(graph.Slice, ".cropped", []graph.Value{x}, "begin", begin, "end", end), shape
}

// maxExtend bounds the slices that mirrored and repeated edges are made of.
const maxExtend = 256

// extend adds slices of one element at both ends of an axis.
func (c *call) extend(x graph.Value, shape []int, axis, before, after int, reflect bool) graph.Value {
	if before == 0 && after == 0 || c.err != nil {
		return x
	}
	n := shape[axis]
	if reflect && max(before, after) >= n || before+after > maxExtend {
		c.fail("%d and %d elements at the ends of an axis of %d", before, after, n)
		return x
	}
	at := func(i int) graph.Value {
		begin, end := make([]int, len(shape)), slices.Clone(shape)
		begin[axis], end[axis] = i, i+1
		return c.node(graph.Slice, ".edge", []graph.Value{x}, "begin", begin, "end", end)
	}
	var in []graph.Value
	for i := before; i > 0; i-- {
		in = append(in, at(inside(i, reflect)))
	}
	in = append(in, x)
	for i := 1; i <= after; i++ {
		in = append(in, at(n-1-inside(i, reflect)))
	}
	return c.node(graph.Concat, ".extended", in, "axis", axis)
}

// inside returns how far from the edge the element lies that stands i outside.
func inside(i int, reflect bool) int {
	if reflect {
		return i
	}
	return 0
}
