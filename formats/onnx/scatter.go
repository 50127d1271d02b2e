package onnx

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"ScatterElements": {attributes: accept(3, "axis reduction"),
			refused: "indices or updates that are not constant; a batch that is open or more than 1",
			make:    oneResult(scatter), fold: fold.One(fold.ScatterElements)},
		"Scatter": {attributes: accept(3, "axis"),
			refused: "indices or updates that are not constant; a batch that is open or more than 1",
			make:    oneResult(scatter), fold: fold.One(fold.ScatterElements)},
	})
}

// Scatter sets elements of a value to constant numbers at constant indices. A mask and the numbers
// have the shape of the value. The indices refer to the whole batch, so this is supported only for
// a batch of 1.

// scatter sets single elements at indices of one axis.
func scatter(c *call) graph.Value {
	return scatterElements(c, func(s []int) (at, updates []int) {
		axis := c.FoldAxis(int64(c.Int("axis", 0)), len(s))
		if c.Err != nil {
			return nil, nil
		}
		index, at := c.Indices(1, s[axis])
		if !c.Within(index.Shape, s, axis) {
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

// scatterBlocks sets blocks of elements at tuples of indices.
func scatterBlocks(c *call) graph.Value {
	return scatterElements(c, func(s []int) (at, updates []int) {
		begins, block := c.Tuples(s, 0)
		if c.Err != nil {
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
		return at, c.BlocksShape(s)
	})
}

// scatterElements sets elements to the updates in operand 2. offsets returns the offsets of
// these elements, and the required shape of the updates.
func scatterElements(c *call, offsets func(shape []int) (at, updates []int)) graph.Value {
	if !c.Unbatched {
		c.FailAcrossBatch("sets elements of every row by constants of its own")
		return graph.None
	}
	s := c.Shape(0)
	at, shape := offsets(s)
	updates, _ := c.Constant(2)
	updates = c.ToF32(updates)
	if c.Err == nil && !slices.Equal(updates.Shape, shape) {
		c.Fail("updates of the shape %v, want %v", updates.Shape, shape)
	}
	if c.Err == nil && (len(at) > maxIndices || len(at) != updates.Count()) {
		c.Fail("of %d elements by %v is not supported", len(at), updates)
	}
	if c.Err != nil {
		return graph.None
	}
	return combineUpdates(c, s, at, updates.F32())
}

// scatterReductions combine updates with the old elements. neutral is an update that changes nothing.
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

// combineUpdates joins operand 0 with updates at offsets.
func combineUpdates(c *call, s, offsets []int, updates []float32) graph.Value {
	reduction, ok := scatterReductions[c.Text("reduction", "none")]
	if !ok || len(offsets) == 0 {
		c.Fail("of %d elements with the reduction %.40q is not supported", len(offsets), c.Text("reduction",
			"none"))
	}
	for range 2 { // first the mask of updates, then their values
		if !c.Reserve(tensor.F32, s) {
			return graph.None
		}
	}
	set := tensor.New(tensor.F32, s...)
	values := tensor.Of(slices.Repeat([]float32{reduction.neutral}, tensor.Count(s)), s...)
	for k, to := range offsets {
		set.F32()[to] = 1
		values.F32()[to] = reduction.of(values.F32()[to], updates[k])
	}
	in := []graph.Value{c.Dynamic(0), c.declare(c.Proto.Input[2], graph.Constant, values)}
	if reduction.op == graph.Where {
		in = []graph.Value{c.declare(c.Proto.Input[1], graph.Constant, set), in[1], in[0]}
	}
	return c.node(reduction.op, "", in)
}
