package caffe

import (
	"cmp"
	"errors"
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

// prelu adds a PReLU with one slope for each channel, or with a single slope for all
// channels.
func prelu(c *call) error {
	shared, err := c.p.uint(2, 0)
	if err != nil {
		return err
	}
	if len(c.layer.blobs) != 1 {
		return fmt.Errorf("has %d blobs, want 1", len(c.layer.blobs))
	}
	if len(c.shape(0)) == 0 {
		return errors.New("an input without channels")
	}
	n := c.shape(0)[0]
	if b := &c.layer.blobs[0]; shared != 0 && n != 1 {
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
	if axis == 0 {
		return fmt.Errorf("over the batch; only other axes are supported")
	}
	err = c.done(c.node(graph.Softmax, "", c.in, "axis", axis-1))
	if axis == 1 {
		c.logits[c.top[0]] = c.in[0]
	}
	return err
}

// absVal computes |x| = relu(x) + relu(-x).
func absVal(c *call) error {
	up := c.node(graph.Relu, ".up", c.in)
	turned := c.node(graph.Affine, ".turned", c.in, "by", -1.0)
	down := c.node(graph.Relu, ".down", []graph.Value{turned})
	return c.done(c.node(graph.Add, "", []graph.Value{up, down}))
}

func bnll(c *call) error { return c.done(c.node(graph.Softplus, "", c.in)) }

// power computes (shift + scale*x)^power.
func power(c *call) error {
	exponent, err1 := c.p.float(1, 1)
	by, err2 := c.p.float(2, 1)
	add, err3 := c.p.float(3, 0)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return err
	}
	if exponent != 1 {
		return fmt.Errorf("power %g; only 1 is supported", exponent)
	}
	return c.done(c.node(graph.Affine, "", c.in, "by", by, "add", add))
}

// The values of the field operation in EltwiseParameter.
const (
	eltwiseProduct = 0
	eltwiseSum     = 1
	eltwiseMax     = 2
)

// eltwise computes a sum, which may be weighted, a product or a maximum.
func eltwise(c *call) error {
	how, err1 := c.p.uint(1, eltwiseSum)
	coefficients, err2 := c.p.floats(2)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	op := map[int]graph.Op{eltwiseProduct: graph.Mul, eltwiseSum: graph.Add, eltwiseMax: graph.MaxPool}[how]
	n := len(coefficients)
	if op == 0 || n > 0 && (how != eltwiseSum || n != len(c.in)) {
		return fmt.Errorf("operation %d with %d coefficients for %d inputs", how, n, len(c.in))
	}
	for i := range c.in[1:] {
		if !slices.Equal(c.shape(0), c.shape(i+1)) {
			return fmt.Errorf("inputs of shapes %v and %v", c.shape(0), c.shape(i+1))
		}
	}
	if how == eltwiseMax {
		return c.done(c.maximum())
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

// maximum stacks the inputs as rows of an image and computes the maximum of every column.
func (c *call) maximum() graph.Value {
	shape := c.shape(0)
	rows := make([]graph.Value, len(c.in))
	for i := range c.in {
		rows[i] = c.node(graph.Reshape, fmt.Sprintf(".row%d", i), c.in[i:i+1],
			"shape", []int{1, 1, tensor.Count(shape)})
	}
	v := c.node(graph.Concat, ".rows", rows, "axis", 1)
	v = c.node(graph.MaxPool, ".max", []graph.Value{v}, "kernel", []int{len(rows), 1}, "stride", []int{1, 1})
	return c.node(graph.Reshape, "", []graph.Value{v}, "shape", shape)
}
