package onnx

import (
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/graph"
)

func init() {
	register(operators{
		"GlobalLpPool": {attributes: accept(1, "p"), refused: "p below 1", make: oneResult(globalLpPool),
			traits: needsBatch},
	})
}

// globalLpPool computes the p-norm of each channel: the p-th root of the sum of the p-th
// powers of its absolute values.
func globalLpPool(c *call) graph.Value {
	s, p := c.Shape(0), c.Int("p", 2)
	if c.Err == nil && (len(s) < 2 || p < 1) {
		c.Fail("of %v with p=%d is not supported", s, p)
	}
	if c.Err != nil {
		return graph.None
	}
	sum := func(suffix string, x graph.Value) graph.Value {
		over := element.Indices(len(s))[1:]
		return c.node(graph.ReduceSum, suffix, []graph.Value{x}, "axes", over, "keep", true)
	}
	total := func(suffix string, x graph.Value) graph.Value { return sum(".sum"+suffix, x) }
	switch p {
	case 1:
		return sum("", makeAbsolute(c, ".size"))
	case 2:
		return norm{p, ".squares", "", total}.add(c, c.Dynamic(0))
	}
	return norm{p, ".powers", "", total}.add(c, makeAbsolute(c, ".size"))
}
