package keras

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// operands returns the operands with the same rank and order: Keras puts axes of length 1
// in front of the axes of operands of lower rank.
func (c *call) operands() []flow {
	out := slices.Clone(c.in)
	rank, first := 0, c.in[0]
	alike := true
	for _, f := range c.in {
		rank = max(rank, len(f.shape))
		alike = alike && f.kerasOrder == first.kerasOrder && len(f.shape) == len(first.shape) &&
			slices.Equal(f.flat, first.flat)
	}
	for i, f := range out {
		if !alike {
			f = c.channelsFirst(f)
		}
		if more := rank - len(f.shape); more > 0 {
			f.shape = append(slices.Repeat([]int{1}, more), f.shape...)
			f.v = c.node(graph.Reshape, ".raised", []graph.Value{f.v}, "shape", c.graphShape(f.shape))
		}
		out[i] = f
	}
	return out
}

// merge returns the function that makes the nodes of a layer that joins operands element by
// element.
func merge(op graph.Op) func(*call) flow {
	return func(c *call) flow {
		if op == graph.Sub && len(c.in) != 2 {
			return c.fail("has %d operands, want 2", len(c.in))
		}
		return c.chain(op, "")
	}
}

// chain joins the operands from left to right; the last node has the suffix.
func (c *call) chain(op graph.Op, suffix string) flow {
	in := c.operands()
	acc := in[0]
	for i, f := range in[1:] {
		name := ".part"
		if i == len(in)-2 {
			name = suffix
		}
		acc = c.like(acc, c.node(op, name, []graph.Value{acc.v, f.v}))
	}
	return acc
}

func average(c *call) flow {
	f := c.chain(graph.Add, ".sum")
	return f.sameOrder(c.node(graph.Affine, "", []graph.Value{f.v}, "by", 1/float64(len(c.in))))
}

func concatenate(c *call) flow {
	axis, rank := c.axisOf("axis", -1), len(c.in[0].shape)
	if axis < 0 {
		axis += rank + 1
	}
	if axis < 1 || axis > rank {
		return c.fail("joins axis %d of tensors of rank %d; the batch cannot be joined", axis, rank+1)
	}
	for _, f := range c.in {
		if len(f.shape) != rank {
			return c.fail("joins tensors of shapes %v and %v", c.in[0].shape, f.shape)
		}
	}
	kerasOrder := !slices.ContainsFunc(c.in, func(f flow) bool { return !f.kerasOrder })
	var in []graph.Value
	var like flow
	for _, f := range c.in {
		if like = f; !kerasOrder {
			like = c.channelsFirst(f)
		}
		in = append(in, like.v)
	}
	return c.like(like, c.node(graph.Concat, "", in, "axis", c.axisInGraph(like, axis-1)))
}
