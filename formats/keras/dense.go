package keras

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// dense makes a matrix product for an operand with one axis, and a 1x1 convolution over the
// channels for an operand with several axes.
func dense(c *call) flow {
	x := c.operand()
	units := c.count("units", 0)
	if c.err != nil || len(x.shape) == 0 {
		return c.fail("takes a tensor of rank 2 or more with the batch")
	}
	in := x.shape[len(x.shape)-1]
	t := c.weight("kernel", in, units)
	if len(x.shape) > 1 {
		return c.denseEach(c.channelsFirst(x), t)
	}
	kernel := c.declare("kernel", graph.Weight, c.columns(t, x.flat))
	v := c.node(graph.Dense, "", []graph.Value{x.v, kernel, c.bias(units)})
	return c.activated(c.shaped(v))
}

// columns transposes a kernel (in, out) to [out, in], with its columns in the order of the
// flattened elements.
func (c *call) columns(t tensor.Tensor, flat []int) tensor.Tensor {
	if flat == nil || c.err != nil {
		return permuted(t, []int{1, 0})
	}
	// The kernel (S..., C, out) becomes [out, C, S...].
	n := len(flat)
	shape := append(append([]int{}, flat[1:]...), flat[0], t.Shape[1])
	perm := []int{n, n - 1}
	for i := range n - 1 {
		perm = append(perm, i)
	}
	return permuted(t.Reshape(shape...), perm).Reshape(t.Shape[1], t.Shape[0])
}

// denseEach applies the kernel (in, out) to every position of a tensor of two or three axes.
func (c *call) denseEach(x flow, t tensor.Tensor) flow {
	if c.first || len(x.shape) > 3 {
		return c.fail("on a tensor of shape %v is not supported", x.shape)
	}
	axes := len(x.shape) - 1
	t = permuted(t, []int{1, 0})
	kernel := c.declare("kernel", graph.Weight, t.Reshape(t.Shape[0], t.Shape[1], 1, 1))
	v := c.node(graph.Conv, "", []graph.Value{c.toImage(x), kernel, c.bias(t.Shape[0])})
	return c.activated(c.fromImage(v, axes))
}
