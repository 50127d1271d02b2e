package onnx

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"Floor": {attributes: accept(1, "", "consumed_inputs"), make: oneResult(rounded), fold: fold.Floor,
			batch: batchaxis.Same},
		"Ceil": {attributes: accept(1, "", "consumed_inputs"), make: oneResult(rounded), fold: fold.Ceil,
			batch: batchaxis.Same},
		"Where": {attributes: accept(3, ""), make: choices, fold: fold.One(fold.Where), batch: batchaxis.Aligned,
			traits: alignsBatch},
		"Sign":  {attributes: accept(1, ""), make: oneResult(signOf), fold: fold.Sign, batch: batchaxis.Same},
		"Round": {attributes: accept(1, ""), make: oneResult(rounded), fold: fold.Round, batch: batchaxis.Same},
		"Not":   {attributes: accept(1, ""), make: tells(not), fold: fold.Not, batch: batchaxis.Same},
		"IsNaN": {attributes: accept(1, ""), make: tells(isNaN), fold: fold.IsNaN, batch: batchaxis.Same},
		"IsInf": {attributes: accept(1, "detect_negative detect_positive"), make: tells(isInf),
			fold: fold.IsInf, batch: batchaxis.Same},
		"Equal": {attributes: accept(2, legacyBroadcast), make: tells(compared), fold: fold.Equal,
			batch: batchaxis.Aligned, integers: tellApart, traits: alignsBatch},
		"Greater": {attributes: accept(2, legacyBroadcast), make: tells(compared), fold: fold.Greater,
			batch: batchaxis.Aligned, integers: tellApart, traits: alignsBatch},
		"Less": {attributes: accept(2, legacyBroadcast), make: tells(compared), fold: fold.Less,
			batch: batchaxis.Aligned, integers: tellApart, traits: alignsBatch},
		"GreaterOrEqual": {attributes: accept(2, ""), make: tells(compared), fold: fold.GreaterOrEqual,
			batch: batchaxis.Aligned, integers: tellApart, traits: alignsBatch},
		"LessOrEqual": {attributes: accept(2, ""), make: tells(compared), fold: fold.LessOrEqual,
			batch: batchaxis.Aligned, integers: tellApart, traits: alignsBatch},
		"And": {attributes: accept(2, legacyBroadcast), make: tells(logical), fold: fold.And,
			batch: batchaxis.Aligned, traits: alignsBatch},
		"Or": {attributes: accept(2, legacyBroadcast), make: tells(logical), fold: fold.Or,
			batch: batchaxis.Aligned, traits: alignsBatch},
		"Xor": {attributes: accept(2, legacyBroadcast), make: tells(logical), fold: fold.Xor,
			batch: batchaxis.Aligned, traits: alignsBatch},
	})
}

// A truth value is 0 or 1 in the graph.

// tells returns the maker of an operator that has a result of truth values. f computes the
// result.
func tells(f func(*call) graph.Value) maker {
	return func(c *call) []node.Value {
		out := node.Rows(f(c))
		out.Elements = node.Truths
		return []node.Value{out}
	}
}

var comparisons = map[string]string{"Equal": "equal", "Greater": "greater", "GreaterOrEqual": "greater_equal",
	"Less": "less", "LessOrEqual": "less_equal"}

func compared(c *call) graph.Value {
	return c.node(graph.Compare, "", c.operandPair(), "of", comparisons[c.Proto.OpType])
}

// logical computes operators on truth values, which are 0 or 1: And is the product, Or is
// the maximum, and Xor is 1 if they differ.
func logical(c *call) graph.Value {
	switch in := c.operandPair(); c.Proto.OpType {
	case "And":
		return c.node(graph.Mul, "", in)
	case "Or":
		return c.node(graph.Max, "", in)
	default:
		return c.node(graph.Compare, "", in, "of", "not_equal")
	}
}

func not(c *call) graph.Value {
	return c.node(graph.Compare, "", []graph.Value{c.Dynamic(0)}, "of", "equal")
}

func isNaN(c *call) graph.Value {
	return c.node(graph.Compare, "", []graph.Value{c.Dynamic(0), c.Dynamic(0)}, "of", "not_equal")
}

// isInf compares with the infinities that the attributes of the operator select.
func isInf(c *call) graph.Value {
	var found []graph.Value
	for _, of := range []struct {
		attribute, suffix string
		sign              int
	}{{"detect_positive", ".positive", 1}, {"detect_negative", ".negative", -1}} {
		if c.Int(of.attribute, 1) != 0 {
			infinite := c.declare("infinity"+of.suffix, graph.Constant, tensor.Scalar(float32(math.Inf(of.sign))))
			both := []graph.Value{c.Dynamic(0), infinite}
			found = append(found, c.node(graph.Compare, of.suffix, both, "of", "equal"))
		}
	}
	switch len(found) {
	case 0:
		return c.node(graph.Affine, "", []graph.Value{not(c)}, "by", 0.0)
	case 1:
		return found[0]
	}
	return c.node(graph.Max, "", found)
}

// choices picks one of two operands for each element. If both operands are integers, so is the
// result. f32 must represent these integers exactly.
func choices(c *call) []node.Value {
	out := node.Rows(choice(c))
	if c.Err != nil {
		return nil
	}
	if d := c.In[1].DType(); !element.IsFloat(d) && d != tensor.Bool {
		for _, x := range c.In[1:] {
			if x.IsConstant() && !x.Extent().IsExact() {
				c.Fail("of integers of 2^24 and more is not supported")
			}
		}
		out.Elements, out.Kind = node.Integers, d
	}
	return []node.Value{out}
}

// choice picks one of two operands for each element. If a constant condition picks the
// same operand everywhere, that operand is the result.
func choice(c *call) graph.Value {
	if len(c.In) != 3 {
		c.Fail("has %d operands, want 3", len(c.In))
		return graph.None
	}
	test := c.In[0].Tensor
	in := c.broadcastOperands(0, 1, 2)
	if c.Err != nil {
		return graph.None
	}
	if c.In[0].IsConstant() && test.DType == tensor.Bool {
		yes, no := slices.Contains(test.Bytes, 1), slices.Contains(test.Bytes, 0)
		k := 2
		if yes {
			k = 1
		}
		if yes != no && !c.In[k].IsConstant() {
			return c.node(graph.BroadcastTo, "", in[k:k+1], "shape", broadcastShape(c, in))
		}
	}
	return c.node(graph.Where, "", in)
}

// broadcastShape returns the shape that values broadcast to.
func broadcastShape(c *call, operands []graph.Value) (shape []int) {
	for _, v := range operands {
		s, err := graph.Broadcast(shape, c.g.Type(v).Shape)
		if err != nil {
			c.Fail("%w", err)
		}
		shape = s
	}
	return shape
}

// signOf computes 1, -1 or 0. The sign of NaN is NaN, as in NumPy and ONNX Runtime.
func signOf(c *call) graph.Value {
	x := []graph.Value{c.Dynamic(0)}
	above := c.node(graph.Compare, ".above", x, "of", "greater")
	sign := c.node(graph.Sub, ".sign", []graph.Value{above, c.node(graph.Compare, ".below", x, "of", "less")})
	noNumber := c.compare(".nan", "not_equal", x[0], x[0])
	return c.node(graph.Where, "", []graph.Value{noNumber, x[0], sign})
}

func rounded(c *call) graph.Value {
	mode := map[string]string{"Floor": "floor", "Ceil": "ceil", "Round": "even"}[c.Proto.OpType]
	return c.node(graph.Round, "", []graph.Value{c.Dynamic(0)}, "mode", mode)
}
