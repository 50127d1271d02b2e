package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

func foldGather(c *Node) tensor.Tensor {
	t := c.required(0)
	axis := c.foldAxis(int64(c.int("axis", 0)), len(t.Shape))
	if c.err != nil {
		return nothing
	}
	index, selected := c.indices(1, t.Shape[axis])
	shape := slices.Concat(t.Shape[:axis], index.Shape, t.Shape[axis+1:])
	step, inner := element.Strides(t.Shape), element.Strides(index.Shape)
	return c.gathered(t, shape, func(at []int) int {
		from, which := 0, 0
		for a := range at {
			switch {
			case a < axis:
				from += at[a] * step[a]
			case a < axis+len(index.Shape):
				which += at[a] * inner[a-axis]
			default:
				from += at[a] * step[a-len(index.Shape)+1]
			}
		}
		return from + selected[which]*step[axis]
	})
}

func foldGatherElements(c *Node) tensor.Tensor {
	t := c.required(0)
	axis := c.foldAxis(int64(c.int("axis", 0)), len(t.Shape))
	if c.err != nil {
		return nothing
	}
	index, selected := c.indices(1, t.Shape[axis])
	if !c.within(index.Shape, t.Shape, axis) {
		return nothing
	}
	step, k := element.Strides(t.Shape), -1
	return c.gathered(t, index.Shape, func(at []int) int {
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

func foldGatherND(c *Node) tensor.Tensor {
	t, common := c.required(0), c.int("batch_dims", 0)
	if common < 0 {
		c.fail("batch_dims is %d", common)
	}
	if c.err != nil {
		return nothing
	}
	begins, block := c.tuples(t.Shape, common)
	if c.err != nil {
		return nothing
	}
	index := c.in[1].c.Shape
	last := len(index) - 1
	out := c.newConstant(t.DType, slices.Concat(index[:last], t.Shape[common+index[last]:]))
	for k := 0; k < len(begins) && c.err == nil; k++ {
		for i := range block {
			element.Move(out, k*block+i, t, begins[k]+i)
		}
	}
	return out
}

// checkReplaces checks the attribute reduction of what scatters.
func checkReplaces(c *Node) bool {
	if r := c.text("reduction", "none"); r != "none" {
		c.fail("with the reduction %.40q is not supported", r)
	}
	return c.err == nil
}

func foldScatterND(c *Node) tensor.Tensor {
	t, updates := c.required(0), c.required(2)
	begins, block := c.tuples(t.Shape, 0)
	if !checkReplaces(c) {
		return nothing
	}
	if c.err == nil && (updates.DType != t.DType || !slices.Equal(updates.Shape, c.blocksShape(t.Shape))) {
		c.fail("updates %v, want %v", updates, tensor.Describe(t.DType, c.blocksShape(t.Shape)))
	}
	out := c.newConstant(t.DType, t.Shape)
	if c.err != nil {
		return nothing
	}
	copy(out.Bytes, t.Bytes)
	for k, begin := range begins {
		for i := range block {
			element.Move(out, begin+i, updates, k*block+i)
		}
	}
	return out
}

func foldScatterElements(c *Node) tensor.Tensor {
	t, updates := c.required(0), c.required(2)
	axis := c.foldAxis(int64(c.int("axis", 0)), len(t.Shape))
	if !checkReplaces(c) {
		return nothing
	}
	index, selected := c.indices(1, t.Shape[axis])
	if !c.within(index.Shape, t.Shape, axis) {
		return nothing
	}
	if updates.DType != t.DType || !slices.Equal(updates.Shape, index.Shape) {
		c.fail("updates %v for indices of %v", updates, index.Shape)
	}
	out := c.newConstant(t.DType, t.Shape)
	if c.err != nil {
		return nothing
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

func foldSlice(c *Node) tensor.Tensor {
	t := c.required(0)
	spans := c.spans(t.Shape, func(a int64) int { return c.foldAxis(a, len(t.Shape)) })
	return sliceConstant(c, t, spans)
}

func sliceConstant(c *Node, t tensor.Tensor, spans []span) tensor.Tensor {
	shape := make([]int, len(spans))
	for a, s := range spans {
		shape[a] = s.count
	}
	step := element.Strides(t.Shape)
	return c.gathered(t, shape, func(at []int) int {
		from := 0
		for a := range at {
			from += (spans[a].begin + at[a]*spans[a].step) * step[a]
		}
		return from
	})
}

func foldSplit(c *Node) []tensor.Tensor {
	t := c.required(0)
	axis := c.foldAxis(int64(c.int("axis", 0)), len(t.Shape))
	if c.err != nil {
		return nil
	}
	var out []tensor.Tensor
	for _, spans := range c.sizes(t.Shape, axis) {
		out = append(out, sliceConstant(c, t, spans))
	}
	return out
}

// foldConcat joins along the first axis, which is how shapes are joined, or any other.
func foldConcat(c *Node) tensor.Tensor {
	all := make([]tensor.Tensor, max(len(c.in), 1)) // without operands the first is missed
	for i := range all {
		all[i] = c.required(i)
	}
	if c.err != nil {
		return nothing
	}
	axis := c.foldAxis(int64(c.int("axis", 1)), len(all[0].Shape))
	shape := slices.Clone(all[0].Shape)
	for i, t := range all[1:] {
		same := len(t.Shape) == len(shape) && t.DType == all[0].DType
		for a := range shape {
			same = same && (a == axis || t.Shape[a] == shape[a])
		}
		if !same || c.err != nil {
			c.fail("operand %d is %v, operand 0 %v", i+1, t, all[0])
			return nothing
		}
		shape[axis] += t.Shape[axis]
	}
	out := c.newConstant(all[0].DType, shape)
	if c.err != nil {
		return nothing
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

func foldTranspose(c *Node) tensor.Tensor {
	t := c.required(0)
	perm := c.permutation(len(t.Shape))
	if c.err != nil {
		return nothing
	}
	return transposeConstant(c, t, perm)
}

func transposeConstant(c *Node, t tensor.Tensor, perm []int) tensor.Tensor {
	shape := make([]int, len(perm))
	for i, a := range perm {
		shape[i] = t.Shape[a]
	}
	step := element.Strides(t.Shape)
	return c.gathered(t, shape, func(at []int) int {
		from := 0
		for i, a := range perm {
			from += at[i] * step[a]
		}
		return from
	})
}
