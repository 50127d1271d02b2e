package keras

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// batchNorm makes a batch norm: momentum is the weight of the old value in the running
// statistics, and the running variance is the biased one. Without scale gamma is 1, without
// center beta is 0, and training does not change them.
func batchNorm(c *call) flow {
	f := c.operand()
	if f.kerasOrder {
		f = c.channelsFirst(f)
	}
	rank := len(f.shape)
	axis := c.channelAxis(f)
	if c.err != nil || c.fields.err != nil {
		return f
	}
	if c.axis(axis, rank) != 0 {
		return c.fail("normalises axis %d of %v; only the axis of the channels is supported", axis+1, f.shape)
	}
	n := f.shape[axis]
	in := []graph.Value{f.v,
		c.vector("gamma", graph.Gamma, n, f.flat, "scale", 1),
		c.vector("beta", graph.Beta, n, f.flat, "center", 0),
		c.vector("moving_mean", graph.Mean, n, f.flat, "", 0),
		c.vector("moving_variance", graph.Variance, n, f.flat, "", 0)}
	return f.sameOrder(c.node(graph.BatchNorm, "", in, "eps", c.float("epsilon", 1e-3),
		"decay", c.decay(), "variance", "biased"))
}

// decay returns the weight of the old value in the running statistics. A weight of 1, which
// would never update them, counts as absent.
func (c *call) decay() float64 {
	const otherwise = 0.99 // default of Keras
	d := c.float("momentum", otherwise)
	if d == 1 {
		c.note(c.name, "momentum 1 would keep the running statistics of training as they are; 0.99 is taken, "+
			"as where a file does not say it")
		return otherwise
	}
	if !(d >= 0 && d < 1) {
		c.fail("momentum is %v; the share of the old statistics that stays is at least 0 and less than 1", d)
	}
	return d
}

// channelAxis returns the axis field without the batch.
func (c *call) channelAxis(f flow) int {
	axis, rank := c.axisOf("axis", -1), len(f.shape)
	if axis < 0 {
		axis += rank + 1
	}
	if c.fields.err == nil && (axis < 1 || axis > rank) {
		c.fail("axis %d of a tensor of rank %d", axis, rank+1)
	}
	return axis - 1
}

// vector declares a weight of one element per channel. It is a constant if the field states
// that the layer lacks this weight.
func (c *call) vector(param string, role graph.Role, n int, flat []int, field string,
	value float32) graph.Value {
	if field != "" && !c.bool(field, true) {
		return c.declare(param, graph.Constant, tensor.Of(slices.Repeat([]float32{value}, n), n))
	}
	return c.declare(param, role, c.inOrder(c.weight(param, n), flat))
}

// inOrder permutes the elements of a vector into the order of the flattened elements.
func (c *call) inOrder(t tensor.Tensor, flat []int) tensor.Tensor {
	if flat == nil || c.err != nil {
		return t
	}
	n := len(flat)
	perm := []int{n - 1}
	for i := range n - 1 {
		perm = append(perm, i)
	}
	shape := append(append([]int{}, flat[1:]...), flat[0])
	return permuted(t.Reshape(shape...), perm).Reshape(t.Shape[0])
}
