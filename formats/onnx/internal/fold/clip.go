package fold

import (
	"math"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/tensor"
)

// Clip limits numbers to two bounds. The upper bound is applied last.
func Clip(c *node.Node) tensor.Tensor {
	t := c.Required(0)
	out := c.NewConstant(t.DType, t.Shape)
	if c.Err != nil {
		return node.Nothing
	}
	if element.IsFloat(t.DType) {
		_, at := c.Reals(0)
		low, high := readRealBound(c, "min", 1, math.Inf(-1)), readRealBound(c, "max", 2, math.Inf(1))
		for k := 0; k < t.Count() && c.Err == nil; k++ {
			element.SetReal(out, k, smaller(larger(at(k), low), high))
		}
		return out
	}
	_, at := c.Integers(0)
	low, hasLow := readIntegerBound(c, 1)
	high, hasHigh := readIntegerBound(c, 2)
	for k := 0; k < t.Count() && c.Err == nil; k++ {
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

// readRealBound reads a bound, which is an attribute in older operator sets and operand
// i in newer ones.
func readRealBound(c *node.Node, name string, i int, def float64) float64 {
	if c.Attribute(name) != nil {
		return c.Float(name, 0)
	}
	if !c.Has(i) {
		return def
	}
	t, at := c.Reals(i)
	if c.Err == nil && t.Count() != 1 {
		c.Fail("operand %d is %v, want one number", i, t)
	}
	if c.Err != nil {
		return def
	}
	return at(0)
}

// readIntegerBound returns operand i; ok is false if it is absent.
func readIntegerBound(c *node.Node, i int) (v int64, ok bool) {
	if !c.Has(i) {
		return 0, false
	}
	t, at := c.Integers(i)
	if c.Err == nil && t.Count() != 1 {
		c.Fail("operand %d is %v, want one number", i, t)
	}
	if c.Err != nil {
		return 0, false
	}
	return at(0), true
}
