package caffe

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func relu(c *call) error {
	slope, err := c.p.float(1, 0)
	if err != nil {
		return err
	}
	if slope != 0 {
		return c.done(c.node(graph.LeakyRelu, "", c.in, "alpha", slope))
	}
	return c.done(c.node(graph.Relu, "", c.in))
}

// prelu has a slope per channel, or one for all.
func prelu(c *call) error {
	if len(c.shape(0)) == 0 || len(c.layer.blobs) != 1 {
		return fmt.Errorf("has %d blobs, want 1", len(c.layer.blobs))
	}
	n := c.shape(0)[0]
	if b := &c.layer.blobs[0]; tensor.Count(b.shape) == 1 && n != 1 {
		one, err := b.load(1)
		if err != nil {
			return err
		}
		slope := c.declare(c.name+".weight", graph.Weight, tensor.Of(slices.Repeat(one.F32(), n), n))
		return c.done(c.node(graph.Prelu, "", []graph.Value{c.in[0], slope}))
	}
	slope, err := c.weight(0, "weight", graph.Weight, n)
	if err != nil {
		return err
	}
	return c.done(c.node(graph.Prelu, "", []graph.Value{c.in[0], slope}))
}

func elu(c *call) error {
	alpha, err := c.p.float(1, 1)
	if err != nil {
		return err
	}
	return c.done(c.node(graph.Elu, "", c.in, "alpha", alpha))
}

func sigmoid(c *call) error { return c.done(c.node(graph.Sigmoid, "", c.in)) }
func tanh(c *call) error    { return c.done(c.node(graph.Tanh, "", c.in)) }

func softmax(c *call) error {
	axis, err := c.p.axis(2, 1, len(c.shape(0))+1)
	if err != nil {
		return err
	}
	if axis != 1 {
		return fmt.Errorf("over axis %d; only channels are supported", axis)
	}
	err = c.done(c.node(graph.Softmax, "", c.in, "axis", 0))
	c.logits[c.top[0]] = c.in[0]
	return err
}

// power is (shift + scale*x)^power.
func power(c *call) error {
	exponent, err1 := c.p.float(1, 1)
	by, err2 := c.p.float(2, 1)
	add, err3 := c.p.float(3, 0)
	if err := firstError(err1, err2, err3); err != nil {
		return err
	}
	if exponent != 1 {
		return fmt.Errorf("power %g; only 1 is supported", exponent)
	}
	return c.done(c.node(graph.Affine, "", c.in, "by", by, "add", add))
}

// eltwise is a sum, which may be weighted, or a product.
func eltwise(c *call) error {
	how, err1 := c.p.uint(1, 1)
	coefficients, err2 := c.p.floats(2)
	if err := firstError(err1, err2); err != nil {
		return err
	}
	op := map[int]graph.Op{0: graph.Mul, 1: graph.Add}[how]
	if op == 0 || how == 0 && coefficients != nil || coefficients != nil && len(coefficients) != len(c.in) {
		return fmt.Errorf("operation %d with %d coefficients for %d inputs; products and sums are supported",
			how, len(coefficients), len(c.in))
	}
	in := slices.Clone(c.in)
	for i, k := range coefficients {
		if k != 1 {
			in[i] = c.node(graph.Affine, fmt.Sprintf(".by%d", i), in[i:i+1], "by", k)
		}
	}
	v := in[0]
	for i, x := range in[1:] {
		suffix := ""
		if i < len(in)-2 {
			suffix = fmt.Sprintf(".%d", i)
		}
		v = c.node(op, suffix, []graph.Value{v, x})
	}
	return c.done(v)
}
