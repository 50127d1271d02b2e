package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// maxLookups is the maximum number of multiplications for one row of the input: the number of
// indices in the row times the number of rows of the table.
const maxLookups = 1 << 26

// embeds reports whether a node picks rows of a constant table by numbers that depend on the input, as
// an embedding of words does.
func embeds(c *call, op string) bool {
	return op == "Gather" && len(c.In) == 2 && c.In[0].IsConstant() && !c.In[1].IsConstant() && !looksUp(c)
}

// embed multiplies the table by rows that are 1 at one position and 0 elsewhere. The products are
// exact. The result for a number without a row in the table is NaN.
func embed(c *call) []node.Value {
	t, s := c.In[0].Tensor, c.Shape(1)
	if c.Err != nil || !checkEmbedding(c, t, tensor.Count(s)) {
		return nil
	}
	n, rows, width := t.Shape[0], tensor.Count(s), tensor.Count(t.Shape[1:])
	at := c.node(graph.Reshape, ".numbers", []graph.Value{c.Dynamic(1)}, "shape", []int{rows, 1})
	within := c.In[1].Extent()
	if within == nil || within.Least < 0 {
		below := c.node(graph.Compare, ".below", []graph.Value{at}, "of", "less")
		from := c.node(graph.Affine, ".end", []graph.Value{below}, "by", float64(n))
		at = c.node(graph.Add, ".from_start", []graph.Value{at, from})
	}
	at = c.compare(".picked", "equal", at, c.positions([]int{rows, n}, 1))
	v := c.node(graph.MatMul, ".taken", []graph.Value{at, c.state(0, graph.Weight, n, width)})
	if within == nil || within.Least < float64(-n) || within.Most >= float64(n) {
		found := c.node(graph.ReduceMax, ".found", []graph.Value{at}, "axes", []int{1}, "keep", true)
		missing := c.node(graph.Affine, ".missing", []graph.Value{found}, "add", -1.0)
		v = c.node(graph.Add, ".checked", []graph.Value{v, c.node(graph.Sqrt, ".nan", []graph.Value{missing})})
	}
	shape := slices.Concat(s, t.Shape[1:])
	return []node.Value{node.Rows(c.node(graph.Reshape, "", []graph.Value{v}, "shape", shape))}
}

// checkEmbedding refuses a table if the products with 0 and 1 would not give its exact
// rows, and a lookup along another axis than the first.
func checkEmbedding(c *call, t tensor.Tensor, rows int) bool {
	switch {
	case !c.In[1].HoldsIntegers():
		c.Fail("takes places that are not integers")
	case !element.IsFloat(t.DType) || len(t.Shape) == 0:
		c.Fail("takes rows of a table of %v by numbers that come from the input; tables of floats are supported",
			t)
	case c.FoldAxis(int64(c.Int("axis", 0)), len(t.Shape)) != 0:
		c.Fail("takes what numbers that come from the input name along axis %d of a table; axis 0 is supported",
			c.Int("axis", 0))
	case t.Shape[0] > maxLookups/max(rows, 1):
		c.Fail("takes %d rows of a table of %d; the product of the two may be %d", rows, t.Shape[0], maxLookups)
	case slices.ContainsFunc(c.ToF32(t).F32(), func(v float32) bool { return !tensor.IsFinite(v) }):
		c.Fail("takes rows of a table with numbers that are not finite")
	}
	return c.Err == nil
}
