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
				"computed updates tuples of several indices, and reductions", make: one(setParts),
			fold: fold.One(fold.ScatterND), batch: batchaxis.Set},
		"Trilu": {attributes: accept(2, "upper"), make: one(triangle), fold: fold.One(fold.Trilu),
			batch: batchaxis.Triangle},
	})
}

// The exporter of torch.export writes x[:, 2:4] = v as a ScatterND between two Transposes, which make
// the axis the first one. The updates depend on the input, and the batch follows that axis. The
// positions of the result are picked from the value followed by the updates.

// setParts sets positions of the first axis to computed values, or elements of each row to constants.
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
	if c.Err == nil && (!c.In[1].IsConstant() || last < 0 || x.Shape[last] != 1 || len(s) == 0 ||
		c.Text("reduction", "none") != "none") {
		c.Fail("of computed values is supported only at constant places of the first axis, without a reduction")
	}
	index, set := readPlaces(c, s)
	if c.Err != nil {
		return graph.None
	}
	want := slices.Concat(x.Shape[:last], s[1:])
	updates := c.value(2, len(want))
	if have := c.FileShapeOf(2); !slices.Equal(have, want) {
		c.Fail("updates of the shape %v, want %v", have, want)
	}
	updates = c.node(graph.Reshape, ".set", []graph.Value{updates}, "shape", append([]int{set}, s[1:]...))
	joined := c.joined(".both", []graph.Value{c.value(0, len(s)), updates}, 0)
	return c.gatherAxis(joined, 0, index, "")
}

// readPlaces returns the source of each position of the first axis: an index into a value of shape s
// followed by the updates. It also returns the number of updates.
func readPlaces(c *call, s []int) (index []int, set int) {
	if c.Err != nil {
		return nil, 0
	}
	_, at := c.Indices(1, s[0])
	index = element.Indices(s[0])
	for k, to := range at {
		if index[to] >= s[0] {
			c.Fail("sets place %d twice", to)
			return nil, 0
		}
		index[to] = s[0] + k
	}
	return index, len(at)
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
		c.Axis(a, len(s)) // axes of the rows
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
