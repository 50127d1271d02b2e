package onnx

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

// Scatter sets elements of a value to constants, at constant indices: of the same shape as the value are
// the numbers that are set, and where. Since indices count the batch this needs a batch of 1.

// scatter sets single elements.
func scatter(c *call) graph.Value {
	return c.scattered(func(s []int) (at, updates []int) {
		axis := c.foldAxis(int64(c.int("axis", 0)), len(s))
		if c.err != nil {
			return nil, nil
		}
		index, at := c.indices(1, s[axis])
		if !c.within(index.Shape, s, axis) {
			return nil, nil
		}
		step := element.Strides(s)
		element.Each(index.Shape, func(k int, from []int) {
			at[k] *= step[axis]
			for a := range from {
				if a != axis {
					at[k] += from[a] * step[a]
				}
			}
		})
		return at, index.Shape
	})
}

// scatterBlocks sets blocks.
func scatterBlocks(c *call) graph.Value {
	return c.scattered(func(s []int) (at, updates []int) {
		begins, block := c.tuples(s, 0)
		if c.err != nil {
			return nil, nil
		}
		for _, begin := range begins {
			if len(at) > maxIndices {
				break
			}
			for i := range block {
				at = append(at, begin+i)
			}
		}
		return at, c.blocksShape(s)
	})
}

// scattered sets elements at offsets by updates of a shape.
func (c *call) scattered(offsets func(shape []int) (at, updates []int)) graph.Value {
	if !c.unbatched {
		c.failAcrossBatch("sets elements of every row by constants of its own")
		return graph.None
	}
	s := c.shape(0)
	at, shape := offsets(s)
	updates, _ := c.constant(2)
	updates = c.toF32(updates)
	if c.err == nil && !slices.Equal(updates.Shape, shape) {
		c.fail("updates of the shape %v, want %v", updates.Shape, shape)
	}
	if c.err == nil && (len(at) > maxIndices || len(at) != updates.Count()) {
		c.fail("of %d elements by %v is not supported", len(at), updates)
	}
	if c.err != nil {
		return graph.None
	}
	return c.combined(s, at, updates.F32())
}

// scatterReductions is how what is set meets what is there: neutral changes nothing.
var scatterReductions = map[string]struct {
	op      graph.Op
	neutral float32
	of      func(a, b float32) float32
}{
	"none": {graph.Where, 0, func(_, b float32) float32 { return b }},
	"add":  {graph.Add, 0, func(a, b float32) float32 { return a + b }},
	"mul":  {graph.Mul, 1, func(a, b float32) float32 { return a * b }},
	"max":  {graph.Max, float32(math.Inf(-1)), func(a, b float32) float32 { return max(a, b) }},
	"min":  {graph.Min, float32(math.Inf(1)), func(a, b float32) float32 { return min(a, b) }},
}

// combined joins operand 0 with updates, which lie at offsets.
func (c *call) combined(s, at []int, updates []float32) graph.Value {
	reduction, ok := scatterReductions[c.text("reduction", "none")]
	if !ok || len(at) == 0 {
		c.fail("of %d elements with the reduction %.40q is not supported", len(at), c.text("reduction", "none"))
	}
	for range 2 { // what is set, and the values
		if !c.reserve(tensor.F32, s) {
			return graph.None
		}
	}
	set := tensor.New(tensor.F32, s...)
	values := tensor.Of(slices.Repeat([]float32{reduction.neutral}, tensor.Count(s)), s...)
	for k, to := range at {
		set.F32()[to] = 1
		values.F32()[to] = reduction.of(values.F32()[to], updates[k])
	}
	in := []graph.Value{c.dynamic(0), c.declare(c.n.Input[2], graph.Constant, values)}
	if reduction.op == graph.Where {
		in = []graph.Value{c.declare(c.n.Input[1], graph.Constant, set), in[1], in[0]}
	}
	return c.node(reduction.op, "", in)
}
