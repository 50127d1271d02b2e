package onnx

import (
	"math"

	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

// foldClip holds numbers between two bounds, the upper one last.
func foldClip(c *Node) tensor.Tensor {
	t := c.required(0)
	out := c.newConstant(t.DType, t.Shape)
	if c.err != nil {
		return nothing
	}
	if element.IsFloat(t.DType) {
		_, at := c.reals(0)
		low, high := readRealBound(c, "min", 1, math.Inf(-1)), readRealBound(c, "max", 2, math.Inf(1))
		for k := 0; k < t.Count() && c.err == nil; k++ {
			element.SetReal(out, k, smaller(larger(at(k), low), high))
		}
		return out
	}
	_, at := c.integers(0)
	low, hasLow := readIntegerBound(c, 1)
	high, hasHigh := readIntegerBound(c, 2)
	for k := 0; k < t.Count() && c.err == nil; k++ {
		v := at(k)
		if hasLow {
			v = largerInteger(c, v, low)
		}
		if hasHigh {
			v = smallerInteger(c, v, high)
		}
		element.SetInteger(out, k, v)
	}
	return out
}

// readRealBound is an attribute in older operator sets, and operand i in newer ones.
func readRealBound(c *Node, name string, i int, def float64) float64 {
	if c.attribute(name) != nil {
		return c.float(name, 0)
	}
	if !c.has(i) {
		return def
	}
	t, at := c.reals(i)
	if c.err == nil && t.Count() != 1 {
		c.fail("operand %d is %v, want one number", i, t)
	}
	if c.err != nil {
		return def
	}
	return at(0)
}

// readIntegerBound returns operand i; ok is false if it is absent.
func readIntegerBound(c *Node, i int) (v int64, ok bool) {
	if !c.has(i) {
		return 0, false
	}
	t, at := c.integers(i)
	if c.err == nil && t.Count() != 1 {
		c.fail("operand %d is %v, want one number", i, t)
	}
	if c.err != nil {
		return 0, false
	}
	return at(0), true
}
