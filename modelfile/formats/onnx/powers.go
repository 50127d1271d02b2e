package onnx

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// constantOne declares the number 1.
func (c *call) constantOne() graph.Value {
	return c.declare("one", graph.Constant, tensor.Scalar(float32(1)))
}

func reciprocal(c *call) graph.Value { return c.inverse("", c.dynamic(0)) }

func (c *call) inverse(suffix string, v graph.Value) graph.Value {
	return c.node(graph.Div, suffix, []graph.Value{c.constantOne(), v})
}

// pow has a constant exponent, the same for all elements: of whole numbers it
// is a product, of halves a root, of others by logarithms. Or the base is one
// positive constant.
func pow(c *call) graph.Value {
	if len(c.in) != 2 {
		c.fail("has %d operands, want 2", len(c.in))
		return graph.None
	}
	if c.in[0].isConstant() {
		base, ok := c.uniform(0)
		if ok && base > 0 && base != 1 && !math.IsInf(base, 0) {
			v := c.node(graph.Affine, ".times", []graph.Value{c.dynamic(1)}, "by", tensor.Log(base))
			return c.node(graph.Exp, "", []graph.Value{v})
		}
		c.fail("of a constant that is not one positive number other than 1 is not supported")
		return graph.None
	}
	p, ok := c.uniform(1)
	if !ok {
		c.fail("with exponents other than one constant is not supported")
		return graph.None
	}
	return c.raised(c.dynamic(0), p)
}

// uniform returns the one number that all elements of constant i are, if they add no axes to the
// other operand.
func (c *call) uniform(i int) (float64, bool) {
	t, ok := c.constant(i)
	if !ok || c.err != nil {
		return 0, false
	}
	rank := c.rank(1 - i)
	if shape, err := graph.Broadcast(t.Shape, slices.Repeat([]int{1}, rank)); err != nil || len(shape) > rank ||
		t.Count() != 1 {
		return 0, false
	}
	f := c.toF32(t)
	if c.err != nil {
		return 0, false
	}
	return float64(f.F32()[0]), true
}

// maxPower is the largest exponent that becomes products.
const maxPower = 64

func (c *call) raised(v graph.Value, p float64) graph.Value {
	whole, half := math.Abs(math.Trunc(p)), math.Abs(p) == 0.5
	switch {
	case p == 1:
		return v
	case p < 0 && (half || whole == -p && whole <= maxPower):
		return c.inverse("", c.raised(v, -p))
	case half:
		return c.node(graph.Sqrt, "", []graph.Value{v})
	case whole == p && p > 0 && p <= maxPower:
		return c.product(v, int(p))
	case whole == math.Abs(p) || math.IsInf(p, 0) || math.IsNaN(p):
		c.fail("to the power of %v is not supported", p)
		return graph.None
	}
	v = c.node(graph.Log, ".log", []graph.Value{v})
	v = c.node(graph.Affine, ".times", []graph.Value{v}, "by", p)
	return c.node(graph.Exp, "", []graph.Value{v})
}

// product is v^n: the square of half of it, times v where n is odd.
func (c *call) product(v graph.Value, n int) graph.Value {
	if n == 1 {
		return v
	}
	root := c.product(v, n/2)
	square := c.node(graph.Mul, "", []graph.Value{root, root})
	if n%2 == 0 {
		return square
	}
	return c.node(graph.Mul, "", []graph.Value{square, v})
}

// maxOrMin is Max or Min of two operands: a constant bounds, others are concatenated and the larger
// is pooled.
func (c *call) maxOrMin(least bool) graph.Value {
	if c.in[0].isConstant() {
		c.in[0], c.in[1] = c.in[1], c.in[0]
		c.n = &onnxpb.NodeProto{OpType: c.n.OpType, Input: []string{c.n.Input[1], c.n.Input[0]},
			Attribute: c.n.Attribute}
	}
	if c.in[1].isConstant() {
		if bound, ok := c.uniform(1); ok {
			return c.clipBy(bound, least)
		}
	} else {
		c.checkAligned(0, 1)
	}
	a, b := c.dynamic(0), c.value(1, len(c.shape(0)))
	if c.err != nil {
		return graph.None
	}
	shape, err := graph.Broadcast(c.g.Type(a).Shape, c.g.Type(b).Shape)
	if err != nil {
		c.fail("%w", err)
		return graph.None
	}
	both := []graph.Value{a, b}
	for i, v := range both {
		if !slices.Equal(c.g.Type(v).Shape, shape) {
			v = c.node(graph.BroadcastTo, ".as", []graph.Value{v}, "shape", shape)
		}
		if least {
			v = c.node(graph.Affine, ".negative", []graph.Value{v}, "by", -1.0)
		}
		both[i] = c.node(graph.Reshape, ".line", []graph.Value{v}, "shape", []int{1, 1, tensor.Count(shape)})
	}
	v := c.node(graph.Concat, ".both", both, "axis", 1)
	v = c.node(graph.MaxPool, ".extreme", []graph.Value{v}, "kernel", []int{2, 1}, "stride", []int{2, 1})
	if least {
		v = c.node(graph.Affine, ".positive", []graph.Value{v}, "by", -1.0)
	}
	return c.node(graph.Reshape, "", []graph.Value{v}, "shape", shape)
}

// clipBy is the smaller, or the larger, of operand 0 and a number.
func (c *call) clipBy(by float64, least bool) graph.Value {
	x := []graph.Value{c.dynamic(0)}
	switch {
	case math.IsNaN(by):
		c.fail("with what is no number")
		return graph.None
	case by == 0 && !least:
		return c.node(graph.Relu, "", x)
	case least:
		return c.node(graph.Clip, "", x, "min", -math.MaxFloat32, "max", shortest(max(by, -math.MaxFloat32)))
	}
	return c.node(graph.Clip, "", x, "min", shortest(min(by, math.MaxFloat32)), "max", math.MaxFloat32)
}

func maximum(c *call) graph.Value {
	return c.reduceLeft(func(c *call) graph.Value { return c.maxOrMin(false) }, c.n.OpType)
}

func minimum(c *call) graph.Value {
	return c.reduceLeft(func(c *call) graph.Value { return c.maxOrMin(true) }, c.n.OpType)
}

// mean is the sum of values divided by their number.
func mean(c *call) graph.Value {
	v := sum(c)
	if len(c.in) == 1 {
		return v
	}
	return c.node(graph.Affine, "", []graph.Value{v}, "by", 1/float64(len(c.in)))
}
