package onnx

import (
	"cmp"
	"slices"

	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
)

// chosen is what a Where takes of two values: integers of integers, constants among them, and truth values of
// truth values. As floats they would be divided and written as such.
func (c *call) chosen() []value {
	if len(c.in) != 3 || c.in[0].integer || c.in[1].bytes || c.in[2].bytes {
		if len(c.in) == 3 {
			c.failOfIntegers()
			return nil
		}
		return makers["Where"](c)
	}
	a, b := c.in[1], c.in[2]
	integer, truth := a.isInteger() || b.isInteger(), a.isTruth() && b.isTruth()
	kind := cmp.Or(a.integerType(), b.integerType())
	c.exactInF32(a)
	c.exactInF32(b)
	out := makers["Where"](c)
	if c.err != nil {
		return nil
	}
	out[0].truth, out[0].integer = truth, integer
	if integer {
		out[0].kind = kind
		if e, f := a.extent(), b.extent(); e != nil && f != nil {
			out[0].within = &extent{min(e.least, f.least), max(e.most, f.most)}
		}
	}
	return out
}

// exactInF32 refuses constant integers that are others in f32.
func (c *call) exactInF32(x value) {
	if !x.isConstant() || !x.isInteger() || x.c.Count() == 0 {
		return
	}
	all, err := element.IntegersOf(x.c)
	if err != nil {
		c.fail("%w", err)
		return
	}
	inexact := func(n int64) bool { return float64(float32(n)) != float64(n) }
	if i := slices.IndexFunc(all, inexact); i >= 0 {
		c.fail("takes the integer %d, which f32 does not have", all[i])
	}
}
