package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/graph"
)

func init() {
	register(operators{
		"Pad": {attributes: accept(4, "mode pads value"), make: oneResult(pad), fold: fold.One(fold.Pad),
			integers: move, bytes: anyBytes, traits: hasSettings},
	})
}

// wrapSince is the first operator set with the mode wrap of Pad.
const wrapSince = 19

// pad adds elements around a value: a constant number, or other elements of the same axis. Negative
// lengths remove elements.
func pad(c *call) graph.Value {
	s := c.Shape(0)
	before, after := c.Padding(c.Rank(0), func(a int64) int { return c.Axis(a, len(s)) }, len(s))
	if c.Err != nil {
		return graph.None
	}
	x, s := cropNegative(c, c.Dynamic(0), s, before, after)
	switch mode := c.Text("mode", "constant"); mode {
	case "constant":
		value, ok := c.Scalar("value", 2)
		if !ok {
			value = 0
		}
		if c.In[0].HoldsBytes() {
			return padBytes(c, x, before, after, value)
		}
		return c.node(graph.Pad, "", []graph.Value{x}, "before", before, "after", after, "value", shortest(value))
	case "reflect", "edge", "wrap":
		if mode == "wrap" && c.Opset < wrapSince {
			c.Fail("mode is \"wrap\" in operator set %d, and comes in %d", c.Opset, wrapSince)
			return graph.None
		}
		for a, n := range s {
			if before[a] > 0 || after[a] > 0 {
				x = extendAxis(c, x, a, n, before[a], after[a], outside[mode])
			}
		}
		return x
	default:
		c.Fail("mode is %.40q", mode)
	}
	return graph.None
}

// padBytes pads bytes with an integer of the same type.
func padBytes(c *call, x graph.Value, before, after []int, value float64) graph.Value {
	q := int(value) + shift[c.In[0].Kind]
	if float64(int(value)) != value || q < 0 || q > 255 {
		c.Fail("of %v with %g", c.In[0].Kind, value)
		return graph.None
	}
	return c.node(graph.PadInt8, "", []graph.Value{x}, "before", before, "after", after, "zero", q)
}

// cropNegative removes elements for negative pads and sets these pads to 0.
func cropNegative(c *call, x graph.Value, shape, before, after []int) (graph.Value, []int) {
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

// outside has a function for each mode of Pad. The function returns the index of the element that
// fills position i outside of an axis of n elements. The index is out of range if there is no such
// element.
var outside = map[string]func(i, n int) int{
	"reflect": func(i, n int) int {
		if i < 0 {
			return -i
		}
		return 2*(n-1) - i
	},
	"edge": func(i, n int) int { return min(max(i, 0), n-1) },
	"wrap": func(i, n int) int { return ((i % n) + n) % n },
}

// extendAxis adds elements at both ends of an axis of n elements.
func extendAxis(c *call, x graph.Value, axis, n, before, after int, source func(i, n int) int) graph.Value {
	if before+n+after > maxIndices {
		c.Fail("to an axis of %d, of at most %d is supported", before+n+after, maxIndices)
	}
	if c.Err == nil && n < 1 {
		c.Fail("of mode %s of an axis of no element", c.Text("mode", "constant"))
	}
	if c.Err != nil {
		return x
	}
	indices := make([]int, before+n+after)
	for k := range indices {
		i := k - before
		if i < 0 || i >= n {
			i = source(i, n)
		}
		if i < 0 || i >= n {
			c.Fail("%d and %d elements at the ends of an axis of %d: only what is inside is mirrored", before,
				after, n)
			return x
		}
		indices[k] = i
	}
	return c.gatherAxis(x, axis, indices, ".extended")
}
