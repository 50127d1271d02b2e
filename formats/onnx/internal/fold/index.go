package fold

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/tensor"
)

// Gather selects indices of an axis.
func Gather(c *node.Node) tensor.Tensor {
	t := c.Required(0)
	axis := c.FoldAxis(int64(c.Int("axis", 0)), len(t.Shape))
	if c.Err != nil {
		return node.Nothing
	}
	index, selected := c.Indices(1, t.Shape[axis])
	shape := slices.Concat(t.Shape[:axis], index.Shape, t.Shape[axis+1:])
	out := c.NewConstant(t.DType, shape)
	if c.Err != nil {
		return node.Nothing
	}
	block, n := tensor.Count(t.Shape[axis+1:])*t.DType.Size(), t.Shape[axis]
	to := out.Bytes
	for outer := range tensor.Count(t.Shape[:axis]) {
		for _, i := range selected {
			to = to[copy(to, t.Bytes[(outer*n+i)*block:][:block]):]
		}
	}
	return out
}

// GatherElements selects one element for each index.
func GatherElements(c *node.Node) tensor.Tensor {
	t := c.Required(0)
	axis := c.FoldAxis(int64(c.Int("axis", 0)), len(t.Shape))
	if c.Err != nil {
		return node.Nothing
	}
	index, selected := c.Indices(1, t.Shape[axis])
	if !c.Within(index.Shape, t.Shape, axis) {
		return node.Nothing
	}
	step, k := element.Strides(t.Shape), -1
	return c.Gathered(t, index.Shape, func(at []int) int {
		k++
		from := selected[k] * step[axis]
		for a := range at {
			if a != axis {
				from += at[a] * step[a]
			}
		}
		return from
	})
}

// GatherND selects blocks by tuples of indices.
func GatherND(c *node.Node) tensor.Tensor {
	t, common := c.Required(0), c.Int("batch_dims", 0)
	if common < 0 {
		c.Fail("batch_dims is %d", common)
	}
	if c.Err != nil {
		return node.Nothing
	}
	begins, block := c.Tuples(t.Shape, common)
	if c.Err != nil {
		return node.Nothing
	}
	index := c.In[1].Tensor.Shape
	last := len(index) - 1
	out := c.NewConstant(t.DType, slices.Concat(index[:last], t.Shape[common+index[last]:]))
	if c.Err != nil {
		return node.Nothing
	}
	size := t.DType.Size()
	to := out.Bytes
	for _, begin := range begins {
		to = to[copy(to, t.Bytes[begin*size:][:block*size]):]
	}
	return out
}

// checkReplaces refuses an operator that combines the updates with the old elements, which
// the attribute reduction selects. It accepts operators that replace elements.
func checkReplaces(c *node.Node) bool {
	if r := c.Text("reduction", "none"); r != "none" {
		c.Fail("with the reduction %.40q is not supported", r)
	}
	return c.Err == nil
}

// ScatterND sets blocks by tuples of indices.
func ScatterND(c *node.Node) tensor.Tensor {
	t, updates := c.Required(0), c.Required(2)
	begins, block := c.Tuples(t.Shape, 0)
	if !checkReplaces(c) {
		return node.Nothing
	}
	if c.Err == nil && (updates.DType != t.DType || !slices.Equal(updates.Shape, c.BlocksShape(t.Shape))) {
		c.Fail("updates %v, want %v", updates, tensor.Describe(t.DType, c.BlocksShape(t.Shape)))
	}
	out := c.NewConstant(t.DType, t.Shape)
	if c.Err != nil {
		return node.Nothing
	}
	copy(out.Bytes, t.Bytes)
	for k, begin := range begins {
		for i := range block {
			element.Move(out, begin+i, updates, k*block+i)
		}
	}
	return out
}

// ScatterElements sets one element for each index.
func ScatterElements(c *node.Node) tensor.Tensor {
	t, updates := c.Required(0), c.Required(2)
	axis := c.FoldAxis(int64(c.Int("axis", 0)), len(t.Shape))
	if !checkReplaces(c) {
		return node.Nothing
	}
	index, selected := c.Indices(1, t.Shape[axis])
	if !c.Within(index.Shape, t.Shape, axis) {
		return node.Nothing
	}
	if updates.DType != t.DType || !slices.Equal(updates.Shape, index.Shape) {
		c.Fail("updates %v for indices of %v", updates, index.Shape)
	}
	out := c.NewConstant(t.DType, t.Shape)
	if c.Err != nil {
		return node.Nothing
	}
	copy(out.Bytes, t.Bytes)
	step := element.Strides(t.Shape)
	element.Each(index.Shape, func(k int, at []int) {
		to := selected[k] * step[axis]
		for a := range at {
			if a != axis {
				to += at[a] * step[a]
			}
		}
		element.Move(out, to, updates, k)
	})
	return out
}

// Slice selects ranges of axes.
func Slice(c *node.Node) tensor.Tensor {
	t := c.Required(0)
	spans := c.Spans(t.Shape, func(a int64) int { return c.FoldAxis(a, len(t.Shape)) })
	return sliceConstant(c, t, spans)
}

func sliceConstant(c *node.Node, t tensor.Tensor, spans []node.Span) tensor.Tensor {
	shape := make([]int, len(spans))
	for a, s := range spans {
		shape[a] = s.Count
	}
	step := element.Strides(t.Shape)
	return c.Gathered(t, shape, func(at []int) int {
		from := 0
		for a := range at {
			from += (spans[a].Begin + at[a]*spans[a].Step) * step[a]
		}
		return from
	})
}

// Split cuts an axis into ranges.
func Split(c *node.Node) []tensor.Tensor {
	t := c.Required(0)
	axis := c.FoldAxis(int64(c.Int("axis", 0)), len(t.Shape))
	if c.Err != nil {
		return nil
	}
	var out []tensor.Tensor
	for _, spans := range c.Sizes(t.Shape, axis) {
		out = append(out, sliceConstant(c, t, spans))
	}
	return out
}

// Concat joins constants along any axis, and shapes along the first axis.
func Concat(c *node.Node) tensor.Tensor {
	all := make([]tensor.Tensor, max(len(c.In), 1)) // if there are no operands, the first is reported as missing
	for i := range all {
		all[i] = c.Required(i)
	}
	if c.Err != nil {
		return node.Nothing
	}
	axis := c.FoldAxis(int64(c.Int("axis", 1)), len(all[0].Shape))
	shape := slices.Clone(all[0].Shape)
	for i, t := range all[1:] {
		same := len(t.Shape) == len(shape) && t.DType == all[0].DType
		for a := range shape {
			same = same && (a == axis || t.Shape[a] == shape[a])
		}
		if !same || c.Err != nil {
			c.Fail("operand %d is %v, operand 0 %v", i+1, t, all[0])
			return node.Nothing
		}
		shape[axis] += t.Shape[axis]
	}
	out := c.NewConstant(all[0].DType, shape)
	if c.Err != nil {
		return node.Nothing
	}
	to, size := 0, out.DType.Size()
	for o := range tensor.Count(shape[:axis]) {
		for _, t := range all {
			block := tensor.Count(t.Shape[axis:]) * size
			to += copy(out.Bytes[to:], t.Bytes[o*block:(o+1)*block])
		}
	}
	return out
}

// Transpose changes the order of the axes.
func Transpose(c *node.Node) tensor.Tensor {
	t := c.Required(0)
	perm := c.Permutation(len(t.Shape))
	if c.Err != nil {
		return node.Nothing
	}
	return transposeConstant(c, t, perm)
}

func transposeConstant(c *node.Node, t tensor.Tensor, perm []int) tensor.Tensor {
	shape := make([]int, len(perm))
	for i, a := range perm {
		shape[i] = t.Shape[a]
	}
	step := element.Strides(t.Shape)
	return c.Gathered(t, shape, func(at []int) int {
		from := 0
		for i, a := range perm {
			from += at[i] * step[a]
		}
		return from
	})
}
