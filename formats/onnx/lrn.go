package onnx

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"LRN": {attributes: accept(1, "alpha beta bias size"), make: oneResult(lrn), traits: needsBatch},
	})
}

// lrn computes the local response normalisation: x / (bias + alpha/size * sum)^beta. sum adds the
// squares of the size channels around each channel. The mean of squares is computed by an average
// pool that counts the padding, with the channels as rows of an image.
func lrn(c *call) graph.Value {
	s, size := c.Shape(0), c.Int("size", 0)
	if c.Err == nil && (len(s) < 1 || size < 1 || size > 1<<16) {
		c.Fail("of a tensor of shape %v over %d channels", s, size)
	}
	if c.Err != nil {
		return graph.None
	}
	x := c.Dynamic(0)
	v := c.node(graph.Mul, ".squares", []graph.Value{x, x})
	v = c.node(graph.Reshape, ".rows", []graph.Value{v}, "shape", []int{1, s[0], tensor.Count(s[1:])})
	v = c.node(graph.AvgPool, ".mean", []graph.Value{v}, "kernel", []int{size, 1}, "stride", []int{1, 1},
		"pad", []int{(size - 1) / 2, 0, size / 2, 0}, "count_pad", size > 1)
	v = c.node(graph.Reshape, ".shaped", []graph.Value{v}, "shape", s)
	v = c.node(graph.Affine, ".scaled", []graph.Value{v}, "by", shortest(c.Float("alpha", 1e-4)),
		"add", shortest(c.Float("bias", 1)))
	return c.node(graph.Div, "", []graph.Value{x, raisePower(c, v, shortest(c.Float("beta", 0.75)))})
}

// raisePower computes v^p.
func raisePower(c *call, v graph.Value, p float64) graph.Value {
	if p == 0.75 {
		root := c.node(graph.Sqrt, ".root", []graph.Value{v})
		fourth := c.node(graph.Sqrt, ".fourth", []graph.Value{root})
		return c.node(graph.Mul, ".power", []graph.Value{root, fourth})
	}
	if exact := raiseExactly(c, v, p); exact != graph.None {
		return exact
	}
	exponent := c.declare("exponent", graph.Constant, tensor.Scalar(float32(p)))
	return c.node(graph.Pow, ".power", []graph.Value{v, exponent})
}
