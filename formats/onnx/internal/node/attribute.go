package node

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// Attribute returns the attribute with that name, or nil.
func (c *Node) Attribute(name string) *onnxpb.AttributeProto {
	for _, a := range c.Proto.Attribute {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Int returns the integer attribute with that name, or def if it is absent. It must fit into 32 bits.
func (c *Node) Int(name string, def int) int {
	a := c.Attribute(name)
	if a == nil {
		return def
	}
	if v := a.GetI(); v > -1<<31 && v < 1<<31 && (a.Type == onnxpb.AttributeProto_INT || a.I != nil) {
		return int(v)
	}
	c.Fail("attribute %s is not an integer of 32 bits", name)
	return def
}

// Float returns the attribute with that name, which is one number, or def if it is absent.
func (c *Node) Float(name string, def float32) float64 {
	a := c.Attribute(name)
	if a == nil {
		return float64(def)
	}
	if a.Type != onnxpb.AttributeProto_FLOAT && a.F == nil || math.IsNaN(float64(a.GetF())) {
		c.Fail("attribute %s is not a number", name)
	}
	return float64(a.GetF())
}

// Text returns the text attribute with that name, or def if it is absent.
func (c *Node) Text(name, def string) string {
	a := c.Attribute(name)
	if a == nil {
		return def
	}
	if a.S == nil {
		c.Fail("attribute %s is not a string", name)
	}
	return string(a.S)
}

// Ints returns an attribute that is a list of n integers. They must be in the range of a length. If it
// is absent, all are def.
func (c *Node) Ints(name string, n, def int) []int {
	a := c.Attribute(name)
	if a == nil {
		return slices.Repeat([]int{def}, n)
	}
	out := make([]int, n)
	if len(a.Ints) != n {
		c.Fail("attribute %s has %d elements, want %d", name, len(a.Ints), n)
		return slices.Repeat([]int{1}, n)
	}
	for i, v := range a.Ints {
		if v < -1<<30 || v > 1<<30 {
			c.Fail("attribute %s is %v", name, a.Ints)
			return slices.Repeat([]int{1}, n)
		}
		out[i] = int(v)
	}
	return out
}

// List returns integers that are an attribute in older operator sets and operand i in newer
// ones; ok is false if both are absent.
func (c *Node) List(name string, i int) (l []int64, ok bool) {
	if a := c.Attribute(name); a != nil {
		return a.Ints, true
	}
	t, ok := c.Constant(i)
	if !ok {
		return nil, false
	}
	if l, err := element.IntegersOf(t); err == nil {
		return l, true
	} else if t.Count() > 0 { // an empty list may have any type
		c.Fail("operand %d is %v, want integers", i, t)
		return nil, false
	}
	return []int64{}, true
}

// Scalar returns a number that is an attribute in older operator sets and operand i in
// newer ones; ok is false if both are absent.
func (c *Node) Scalar(name string, i int) (v float64, ok bool) {
	if c.Attribute(name) != nil {
		return c.Float(name, 0), true
	}
	t, ok := c.Constant(i)
	if !ok {
		return 0, false
	}
	f, err := t.ToF32()
	if err != nil || f.Count() != 1 {
		c.Fail("operand %d is %v, want one number", i, t)
		return 0, false
	}
	return float64(f.F32()[0]), true
}
