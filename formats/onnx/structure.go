package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"Concat": {attributes: accept(node.ManyOperands, "axis"), make: oneResult(concat),
			fold: fold.One(fold.Concat), batch: batchaxis.Concat, integers: move | keepBounds, bytes: alikeBytes,
			traits: onWeights | alignsBatch},
		"Split": {attributes: accept(2, "axis num_outputs split"), make: split, fold: fold.Split,
			batch: batchaxis.AlongOther, integers: move | keepBounds, bytes: anyBytes,
			traits: hasSettings | onWeights},
		"Slice": {attributes: accept(5, "axes ends starts"), make: oneResult(slice), fold: fold.One(fold.Slice),
			batch: batchaxis.Sliced, integers: move | keepBounds, bytes: anyBytes,
			traits: hasSettings | onWeights | preparesInput},
		"Transpose": {attributes: accept(1, "perm"), refused: "a perm that moves axis 0",
			make: oneResult(transpose),
			fold: fold.One(fold.Transpose), batch: batchaxis.Transposed, integers: move | keepBounds,
			bytes: anyBytes, grows: growAlone, traits: onWeights | preparesInput},
	})
}

func transpose(c *call) graph.Value {
	rank := c.Rank(0)
	perm := c.Permutation(rank)
	if c.Unbatched {
		return transposeWhole(c, perm)
	}
	switch {
	case c.Err != nil:
	case c.Attribute("perm") == nil && rank > 1:
		c.FailAcrossBatch("without perm moves the batch axis")
	case perm[0] != 0:
		c.FailAcrossBatch("moves the batch axis: perm is %v", perm)
	}
	if c.Err != nil {
		return graph.None
	}
	for i := range perm {
		perm[i]--
	}
	return c.node(graph.Transpose, "", []graph.Value{c.Dynamic(0)}, "perm", perm[1:])
}

// transposeWhole transposes a value of the kind whole, which is the same for all rows. If
// only axes of length 1 move, it reshapes the value.
func transposeWhole(c *call, perm []int) graph.Value {
	var shape []int
	last, moves := -1, false
	for _, a := range perm {
		n := c.Shape(0)[a]
		shape = append(shape, n)
		if n != 1 {
			moves, last = moves || a < last, a
		}
	}
	if c.Err == nil && !moves {
		return c.node(graph.Reshape, "", []graph.Value{c.Dynamic(0)}, "shape", shape)
	}
	return c.node(graph.Transpose, "", []graph.Value{c.Dynamic(0)}, "perm", perm)
}

func concat(c *call) graph.Value {
	axis := c.Axis(int64(c.Int("axis", 1)), len(c.firstShape()))
	var in []graph.Value
	for i := range c.In {
		in = append(in, c.value(i, len(c.firstShape())))
	}
	return c.joined("", in, axis)
}

func slice(c *call) graph.Value {
	s := c.Shape(0)
	spans := c.Spans(s, func(a int64) int { return c.Axis(a, len(s)) })
	for a, s := range spans {
		if s.Count > maxIndices && s.Step < 0 {
			c.Fail("of more than %d elements backwards is not supported", maxIndices)
			return graph.None
		}
		if s.Step < 0 { // axes are reversed one after the other
			x := c.gatherAxis(c.Dynamic(0), a, s.Indices(), ".turned")
			if c.Err != nil {
				return graph.None
			}
			c.In[0].V = x
			spans[a] = node.Span{End: s.Count, Step: 1, Count: s.Count}
		}
	}
	return sliceSpans(c, "", spans)
}

// maxTake is the maximum number of indices that one node picks: the maximum length of all
// lists in attributes. maxIndices is the maximum along an axis.
const (
	maxTake    = 1 << 12
	maxIndices = 1 << 20
	maxExtend  = 256 // slices for one reduction
)

// gatherAxis picks the elements with the given indices from an axis, in this order.
// Elements with equal distances are picked by a slice.
func (c *call) gatherAxis(x graph.Value, axis int, indices []int, suffix string) graph.Value {
	if c.Err != nil || x == graph.None {
		return graph.None
	}
	if len(indices) == 0 {
		c.Fail("of no place of axis %d", axis)
		return graph.None
	}
	var in []graph.Value
	for len(indices) > 0 {
		n, step := stepped(indices)
		if n == len(indices) || n >= maxTake {
			in = append(in, sliceSteps(c, x, axis, indices[:n], step, suffix))
		} else {
			n = min(len(indices), maxTake)
			in = append(in, c.node(graph.Take, suffix, []graph.Value{x}, "axis", axis, "index", indices[:n]))
		}
		indices = indices[n:]
	}
	if len(in) == 1 {
		return in[0]
	}
	return c.joined(suffix, in, axis)
}

// stepped returns how many of the first indices have equal distances of at least 1, and that distance.
func stepped(indices []int) (n, step int) {
	n, step = 1, 1
	if len(indices) > 1 && indices[1] > indices[0] {
		step = indices[1] - indices[0]
		for n < len(indices) && indices[n]-indices[n-1] == step {
			n++
		}
	}
	return n, step
}

// sliceSteps slices elements that have a distance of step.
func sliceSteps(c *call, x graph.Value, axis int, indices []int, step int, suffix string) graph.Value {
	s := c.g.Type(x).Shape
	begin, end, steps := make([]int, len(s)), slices.Clone(s), slices.Repeat([]int{1}, len(s))
	begin[axis], end[axis], steps[axis] = indices[0], indices[len(indices)-1]+1, step
	if step == 1 {
		steps = nil
	}
	return c.node(graph.Slice, suffix, []graph.Value{x}, "begin", begin, "end", end, "step", steps)
}

// sliceSpans adds a slice of the operand.
func sliceSpans(c *call, suffix string, spans []node.Span) graph.Value {
	begin, end, step := make([]int, len(spans)), make([]int, len(spans)), make([]int, len(spans))
	for a, s := range spans {
		begin[a], end[a], step[a] = s.Begin, s.End, s.Step
	}
	if len(step) == 0 || slices.Max(step) == 1 {
		step = nil
	}
	return c.node(graph.Slice, suffix, []graph.Value{c.Dynamic(0)}, "begin", begin, "end", end, "step", step)
}

// split divides an axis into ranges.
func split(c *call) []node.Value {
	s := c.Shape(0)
	axis := c.Axis(int64(c.Int("axis", 0)), len(s))
	if c.Err != nil {
		return nil
	}
	var out []node.Value
	for _, spans := range c.Sizes(s, axis) {
		out = append(out, node.Rows(sliceSpans(c, "", spans)))
	}
	return out
}

// joined concatenates values of bytes or of numbers.
func (c *call) joined(suffix string, operands []graph.Value, axis int) graph.Value {
	op := graph.Concat
	if len(operands) > 0 && operands[0] != graph.None && c.g.Type(operands[0]).DType == tensor.U8 {
		op = graph.ConcatInt8
	}
	return c.node(op, suffix, operands, "axis", axis)
}
