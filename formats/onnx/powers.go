package onnx

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"Reciprocal": {attributes: accept(1, "", "consumed_inputs"), make: oneResult(reciprocal),
			fold: fold.Reciprocal, batch: batchaxis.Same, traits: onWeights},
		"Pow": {attributes: accept(2, legacyBroadcast), make: oneResult(pow), fold: fold.Pow,
			batch:  batchaxis.Aligned,
			traits: onWeights | alignsBatch},
		"Mean": {attributes: accept(node.ManyOperands, "", "consumed_inputs"), make: oneResult(mean),
			batch: batchaxis.Aligned, traits: alignsBatch},
		"Max": {attributes: accept(node.ManyOperands, "", "consumed_inputs"), make: oneResult(maximum),
			fold: fold.Max, batch: batchaxis.Aligned, traits: onWeights | alignsBatch},
		"Min": {attributes: accept(node.ManyOperands, "", "consumed_inputs"), make: oneResult(minimum),
			fold: fold.Min, batch: batchaxis.Aligned, traits: onWeights | alignsBatch},
	})
}

// declareOne declares the number 1.
func declareOne(c *call) graph.Value {
	return c.declare("one", graph.Constant, tensor.Scalar(float32(1)))
}

func reciprocal(c *call) graph.Value { return addInverse(c, "", c.Dynamic(0)) }

func addInverse(c *call, suffix string, v graph.Value) graph.Value {
	return c.node(graph.Div, suffix, []graph.Value{declareOne(c), v})
}

// pow becomes a product, a root or a quotient for constant exponents like 2, 0.5 and -1.
func pow(c *call) graph.Value {
	if len(c.In) == 2 && c.In[1].IsConstant() {
		if p, ok := readUniform(c, 1); ok {
			if v := raiseExactly(c, c.Dynamic(0), p); v != graph.None {
				return v
			}
		}
	}
	return c.node(graph.Pow, "", c.operandPair())
}

// readUniform returns the number that all elements of constant i are equal to. ok is false if they
// differ, or if the constant adds axes to the other operand.
func readUniform(c *call, i int) (float64, bool) {
	t, ok := c.Constant(i)
	if !ok || c.Err != nil {
		return 0, false
	}
	rank := c.Rank(1 - i)
	if shape, err := graph.Broadcast(t.Shape, slices.Repeat([]int{1}, rank)); err != nil || len(shape) > rank ||
		t.Count() != 1 {
		return 0, false
	}
	f := c.ToF32(t)
	if c.Err != nil {
		return 0, false
	}
	return float64(f.F32()[0]), true
}

// raiseExactly computes a power by products, quotients and square roots, or returns graph.None if these
// do not suffice for the exponent.
func raiseExactly(c *call, v graph.Value, p float64) graph.Value {
	switch p {
	case 1:
		return v
	case 2:
		return c.node(graph.Mul, "", []graph.Value{v, v})
	case 3:
		return c.node(graph.Mul, "", []graph.Value{c.node(graph.Mul, ".square", []graph.Value{v, v}), v})
	case 0.5:
		return c.node(graph.Sqrt, "", []graph.Value{v})
	case -0.5:
		return addInverse(c, "", c.node(graph.Sqrt, ".root", []graph.Value{v}))
	case -1:
		return addInverse(c, "", v)
	}
	return graph.None
}

// makeExtreme computes Max or Min of two operands. A constant number becomes a bound.
func makeExtreme(c *call, op graph.Op) graph.Value {
	for k := range c.In {
		if c.In[k].IsConstant() {
			if bound, ok := readUniform(c, k); ok && bound == bound {
				return addBound(c, c.Dynamic(1-k), bound, op)
			}
		}
	}
	return c.node(op, "", c.operandPair())
}

// addBound computes the minimum or the maximum of a value and a number.
func addBound(c *call, v graph.Value, bound float64, op graph.Op) graph.Value {
	x := []graph.Value{v}
	switch {
	case op == graph.Min:
		return c.node(graph.Clip, "", x, "min", math.Inf(-1), "max", shortest(bound))
	case bound == 0:
		return c.node(graph.Relu, "", x)
	}
	return c.node(graph.Clip, "", x, "min", shortest(bound), "max", math.Inf(1))
}

func maximum(c *call) graph.Value {
	return reduceLeft(c, func(c *call) graph.Value { return makeExtreme(c, graph.Max) }, c.Proto.OpType)
}

func minimum(c *call) graph.Value {
	return reduceLeft(c, func(c *call) graph.Value { return makeExtreme(c, graph.Min) }, c.Proto.OpType)
}

// mean computes the sum of its operands divided by their number.
func mean(c *call) graph.Value {
	v := sum(c)
	if len(c.In) == 1 {
		return v
	}
	return c.node(graph.Affine, "", []graph.Value{v}, "by", 1/float64(len(c.In)))
}
