package onnx

import (
	"cmp"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
)

// chooseOf reads a Where of two values. Its result has integers if both values have integers (constants
// too), and truth values if both have truth values. Without these types later nodes would divide and
// write them as floats.
func chooseOf(c *call) []node.Value {
	if len(c.In) != 3 || c.In[0].HoldsIntegers() || c.In[1].HoldsBytes() || c.In[2].HoldsBytes() {
		if len(c.In) == 3 {
			c.failOfIntegers()
			return nil
		}
		return choices(c)
	}
	a, b := c.In[1], c.In[2]
	integer, truth := a.IsInteger() || b.IsInteger(), a.IsTruth() && b.IsTruth()
	kind := cmp.Or(a.IntegerType(), b.IntegerType())
	checkExactInF32(c, a)
	checkExactInF32(c, b)
	out := choices(c)
	if c.Err != nil {
		return nil
	}
	out[0].Elements = node.Floats
	if truth {
		out[0].Elements = node.Truths
	}
	if integer {
		out[0].Elements = node.Integers
		out[0].Kind = kind
		if e, f := a.Extent(), b.Extent(); e != nil && f != nil {
			out[0].Within = &node.Extent{Least: min(e.Least, f.Least), Most: max(e.Most, f.Most)}
		}
	}
	return out
}

// checkExactInF32 refuses constant integers that f32 cannot represent
// exactly.
func checkExactInF32(c *call, x node.Value) {
	if !x.IsConstant() || !x.IsInteger() || x.Tensor.Count() == 0 {
		return
	}
	all, err := element.IntegersOf(x.Tensor)
	if err != nil {
		c.Fail("%w", err)
		return
	}
	inexact := func(n int64) bool { return float64(float32(n)) != float64(n) }
	if i := slices.IndexFunc(all, inexact); i >= 0 {
		c.Fail("takes the integer %d, which f32 does not have", all[i])
	}
}
