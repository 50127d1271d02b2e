package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"GatherElements": {attributes: accept(2, "axis"),
			refused: "indices that are not constant; a batch that is open or more than 1",
			make:    oneResult(selectElements), fold: fold.One(fold.GatherElements), integers: move | keepBounds},
		"GatherND": {attributes: accept(2, "batch_dims"),
			refused: "indices that are not constant, or of the batch axis where it is open or more than 1",
			make:    oneResult(selectTuples), fold: fold.One(fold.GatherND), batch: batchaxis.Tuples,
			integers: move | keepBounds},
		"Tile": {attributes: accept(2, ""), make: oneResult(tile), fold: fold.One(fold.Tile),
			integers: move | keepBounds, traits: hasSettings | onWeights},
	})
}

// gather selects constant indices of an axis. A scalar index removes the axis.
func gather(c *call) graph.Value {
	if c.Has(1) && len(c.In) > 1 && !c.In[1].IsConstant() {
		c.Fail("takes what places say that come from the input, which is not supported: end the file at the " +
			"places and at what they are of, and take it behind it")
		return graph.None
	}
	s := c.Shape(0)
	axis := c.Axis(int64(c.Int("axis", 0)), len(s))
	if c.Err != nil {
		return graph.None
	}
	index, at := c.Indices(1, s[axis])
	shape := slices.Concat(s[:axis], index.Shape, s[axis+1:])
	if c.Err != nil || len(index.Shape) == 1 {
		return c.gatherAxis(c.Dynamic(0), axis, at, "")
	}
	v := c.gatherAxis(c.Dynamic(0), axis, at, ".taken")
	return c.node(graph.Reshape, "", []graph.Value{v}, "shape", shape)
}

// tile repeats a value along axes.
func tile(c *call) graph.Value {
	s := c.Shape(0)
	times, _ := c.List("repeats", 1)
	if c.Err == nil && len(times) != c.Rank(0) {
		c.Fail("%d repeats for %d axes", len(times), c.Rank(0))
	}
	if c.Err != nil {
		return graph.None
	}
	if !c.Unbatched {
		if times[0] != 1 {
			c.FailAcrossBatch("repeats the batch %d times", times[0])
			return graph.None
		}
		times = times[1:]
	}
	x := c.Dynamic(0)
	for a := range s {
		n := c.Concrete(times[a])
		if n < 1 || n > maxIndices/int64(max(s[a], 1)) {
			c.Fail("repeats are %s of %v, want at least 1 and at most %d elements of an axis", element.Printed(times),
				s,
				maxIndices)
			return graph.None
		}
		if n > 1 {
			x = c.gatherAxis(x, a, slices.Repeat(element.Indices(s[a]), int(n)), ".tiled")
		}
	}
	return x
}

// selectElements picks elements by constant indices, one for each element of the result.
func selectElements(c *call) graph.Value {
	return gatherFlat(c, func(s []int) ([]int, []int) {
		axis := c.FoldAxis(int64(c.Int("axis", 0)), len(s))
		if c.Err != nil {
			return nil, nil
		}
		index, offsets := c.Indices(1, s[axis])
		if !c.Within(index.Shape, s, axis) {
			return nil, nil
		}
		step := element.Strides(s)
		element.Each(index.Shape, func(k int, at []int) {
			offsets[k] *= step[axis]
			for a := range at {
				if a != axis {
					offsets[k] += at[a] * step[a]
				}
			}
		})
		return offsets, index.Shape
	})
}

// selectTuples picks blocks by constant tuples of indices.
func selectTuples(c *call) graph.Value {
	s, common := c.Shape(0), c.Int("batch_dims", 0)
	if !c.Unbatched {
		c.FailAcrossBatch("picks elements of every row by constants of its own")
	} else if common < 0 {
		c.Fail("batch_dims is %d", common)
	}
	if c.Err != nil {
		return graph.None
	}
	at, block := c.Tuples(s, common)
	if c.Err == nil && (len(at) == 0 || block == 0) {
		c.Fail("of no element")
	} else if len(at) > maxIndices {
		c.Fail("of more than %d blocks is not supported", maxIndices)
	}
	if c.Err != nil {
		return graph.None
	}
	for k := range at {
		at[k] /= block
	}
	index := c.In[1].Tensor.Shape
	last := len(index) - 1
	behind := s[common+index[last]:]
	blocks := append([]int{tensor.Count(s[:common+index[last]])}, behind...)
	v := c.node(graph.Reshape, ".blocks", []graph.Value{c.Dynamic(0)}, "shape", blocks)
	return c.node(graph.Reshape, "", []graph.Value{c.gatherAxis(v, 0, at, ".taken")}, "shape",
		slices.Concat(index[:last], behind))
}

// gatherFlat picks elements anywhere in operand 0. offsets returns their offsets and the
// shape of the result.
func gatherFlat(c *call, offsets func(operandShape []int) (at, shape []int)) graph.Value {
	if !c.Unbatched {
		c.FailAcrossBatch("picks elements of every row by constants of its own")
		return graph.None
	}
	s := c.Shape(0)
	at, shape := offsets(s)
	switch n := tensor.Count(s); {
	case c.Err == nil && len(at) == 0:
		c.Fail("of no element")
	case c.Err == nil && len(at) > maxIndices:
		c.Fail("of more than %d elements is not supported", maxIndices)
	case c.Err == nil:
		v := c.node(graph.Reshape, ".flat", []graph.Value{c.Dynamic(0)}, "shape", []int{n})
		return c.node(graph.Reshape, "", []graph.Value{c.gatherAxis(v, 0, at, ".taken")}, "shape", shape)
	}
	return graph.None
}
