package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

// PyTorch's exporter of torch.export writes x[:, 2:4] = v as a ScatterND between two Transposes, which make
// the axis the first one. What is set is computed, and the batch behind that axis: all places are taken from
// the value and what is set, one behind the other.

// setParts sets places of the first axis to values, or else elements of one row to constants.
func setParts(c *call) graph.Value {
	constants := len(c.in) != 3 || !c.in[0].isConstant() && c.in[1].isConstant() && c.in[2].isConstant()
	if constants && !(c.unbatched && c.tracked()) {
		return scatterBlocks(c)
	}
	s, x := c.fileShapeOf(0), c.in[1].c
	last := len(x.Shape) - 1
	if !c.unbatched {
		c.failAcrossBatch("sets elements of every row by constants of its own")
	}
	if c.err == nil && (!c.in[1].isConstant() || last < 0 || x.Shape[last] != 1 || len(s) == 0 ||
		c.text("reduction", "none") != "none") {
		c.fail("of computed values is supported only at constant places of the first axis, without a reduction")
	}
	index, set := c.placesOf(s)
	if c.err != nil {
		return graph.None
	}
	want := slices.Concat(x.Shape[:last], s[1:])
	updates := c.value(2, len(want))
	if have := c.fileShapeOf(2); !slices.Equal(have, want) {
		c.fail("updates of the shape %v, want %v", have, want)
	}
	updates = c.node(graph.Reshape, ".set", []graph.Value{updates}, "shape", append([]int{set}, s[1:]...))
	joined := c.joined(".both", []graph.Value{c.value(0, len(s)), updates}, 0)
	return c.gatherAxis(joined, 0, index, "")
}

// placesOf returns where each place of the first axis is taken from, of a value of a shape and the places
// behind it that are set, and how many these are.
func (c *call) placesOf(s []int) (index []int, set int) {
	if c.err != nil {
		return nil, 0
	}
	_, at := c.indices(1, s[0])
	index = element.Indices(s[0])
	for k, to := range at {
		if index[to] >= s[0] {
			c.fail("sets place %d twice", to)
			return nil, 0
		}
		index[to] = s[0] + k
	}
	return index, len(at)
}

// triangle leaves the upper or the lower triangle of matrices.
func triangle(c *call) graph.Value {
	s, k := c.shape(0), int64(0)
	if c.has(1) {
		l, _ := c.list("k", 1)
		if c.err == nil && len(l) != 1 {
			c.fail("k is %v", l)
		} else if c.err == nil {
			k = l[0]
		}
	}
	for _, a := range []int64{-1, -2} {
		c.axis(a, len(s)) // of the rows'
	}
	if c.err != nil {
		return graph.None
	}
	h, w := s[len(s)-2], s[len(s)-1]
	keep, upper := c.newConstant(tensor.F32, []int{h, w}), c.int("upper", 1) != 0
	for i := 0; i < keep.Count() && c.err == nil; i++ {
		if d := int64(i%w - i/w); upper && d >= k || !upper && d <= k {
			keep.F32()[i] = 1
		}
	}
	return c.node(graph.Where, "", []graph.Value{c.declare("triangle", graph.Constant, keep), c.dynamic(0),
		c.number("zero", 0)})
}
