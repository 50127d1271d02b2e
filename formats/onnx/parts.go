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
		"ScatterND": {attributes: accept(3, "reduction"),
			refused: "indices that are not constant, or of the batch axis where it is open or more than 1; of " +
				"computed updates places of several axes, and reductions", make: oneResult(setParts),
			fold: fold.One(fold.ScatterND), batch: batchaxis.Set},
		"Trilu": {attributes: accept(2, "upper"), make: oneResult(triangle), fold: fold.One(fold.Trilu),
			batch: batchaxis.Triangle},
	})
}

// The exporter of torch.export writes x[:, 2:4] = v as a ScatterND between two Transposes, which
// make the axis the first one. The exporter of TorchScript writes a ScatterND with a tuple of all
// indices for each element of v. The decoding of older YOLOX sets columns in this way. The updates
// depend on the input, and the batch follows the indexed axes. The positions of the result are
// picked from the value joined with the updates.

// setParts sets positions of one axis to computed values, or elements of each row to constants.
func setParts(c *call) graph.Value {
	constants := len(c.In) != 3 || !c.In[0].IsConstant() && c.In[1].IsConstant() && c.In[2].IsConstant()
	if constants && !(c.Unbatched && c.Tracked()) {
		return scatterBlocks(c)
	}
	s, x := c.FileShapeOf(0), c.In[1].Tensor
	last := len(x.Shape) - 1
	if !c.Unbatched {
		c.FailAcrossBatch("sets elements of every row by constants of its own")
	}
	if c.Err == nil && (!c.In[1].IsConstant() || last < 0 || len(s) == 0 ||
		c.Text("reduction", "none") != "none") {
		c.Fail(setsComputed)
	}
	axis, at := placesOf(c, s)
	index := replaced(c, s, axis, at)
	if c.Err != nil {
		return graph.None
	}
	want := slices.Concat(x.Shape[:last], s[x.Shape[last]:])
	updates := c.value(2, len(want))
	if have := c.FileShapeOf(2); !slices.Equal(have, want) {
		c.Fail("updates of the shape %v, want %v", have, want)
	}
	block := slices.Clone(s)
	block[axis] = len(at)
	updates = c.node(graph.Reshape, ".set", []graph.Value{updates}, "shape", block)
	joined := c.joined(".both", []graph.Value{c.value(0, len(s)), updates}, axis)
	return c.gatherAxis(joined, axis, index, "")
}

const setsComputed = "of computed values is supported only at constant places of one axis, " +
	"without a reduction"

// placesOf returns the axis that operand 1 indexes, and the indices along this axis. Operand 1 has
// indices of the first axis, or tuples of indices that differ only along one axis.
func placesOf(c *call, s []int) (axis int, indices []int) {
	if c.Err != nil {
		return 0, nil
	}
	x := c.In[1].Tensor
	lead, n := x.Shape[:len(x.Shape)-1], x.Shape[len(x.Shape)-1]
	if n == 1 {
		_, indices = c.Indices(1, s[0])
		return 0, indices
	}
	begins, _ := c.Tuples(s, 0)
	if c.Err == nil && len(lead) == n {
		for axis := range n {
			if indices, ok := placesAlong(lead, s, begins, axis); ok {
				return axis, indices
			}
		}
	}
	c.Fail(setsComputed)
	return 0, nil
}

// placesAlong returns the indices along an axis that tuples select, if they select all other axes
// as a whole. begins has the offsets that the tuples have in a value of shape s.
func placesAlong(tuples, s, begins []int, axis int) (indices []int, ok bool) {
	whole := slices.Clone(tuples)
	whole[axis] = s[axis]
	if !slices.Equal(whole, s[:len(tuples)]) {
		return nil, false
	}
	step := element.Strides(s)
	ok = len(begins) > 0
	element.Each(tuples, func(k int, from []int) {
		begin := 0
		for a, v := range from {
			if a != axis {
				begin += v * step[a]
			}
		}
		if begin == 0 {
			indices = append(indices, begins[k]/step[axis])
		}
		to := indices[from[axis]]
		ok = ok && to < s[axis] && begins[k] == begin+to*step[axis]
	})
	return indices, ok
}

// replaced returns the source of each position of an axis: an index into a value of shape s followed by the
// updates of positions.
func replaced(c *call, s []int, axis int, positions []int) (index []int) {
	if c.Err != nil {
		return nil
	}
	index = element.Indices(s[axis])
	for k, to := range positions {
		if index[to] >= s[axis] {
			c.Fail("sets place %d twice", to)
			return nil
		}
		index[to] = s[axis] + k
	}
	return index
}

// triangle keeps the upper or the lower triangle of matrices, and sets
// the rest to 0.
func triangle(c *call) graph.Value {
	s, k := c.Shape(0), int64(0)
	if c.Has(1) {
		l, _ := c.List("k", 1)
		if c.Err == nil && len(l) != 1 {
			c.Fail("k is %v", l)
		} else if c.Err == nil {
			k = l[0]
		}
	}
	for _, a := range []int64{-1, -2} {
		c.Axis(a, len(s)) // axes of a row
	}
	if c.Err != nil {
		return graph.None
	}
	h, w := s[len(s)-2], s[len(s)-1]
	keep, upper := c.NewConstant(tensor.F32, []int{h, w}), c.Int("upper", 1) != 0
	for i := 0; i < keep.Count() && c.Err == nil; i++ {
		if d := int64(i%w - i/w); upper && d >= k || !upper && d <= k {
			keep.F32()[i] = 1
		}
	}
	return c.node(graph.Where, "", []graph.Value{c.declare("triangle", graph.Constant, keep), c.Dynamic(0),
		c.number("zero", 0)})
}
