package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// Weights of the graph are i8. A weight that differs from its zero point by more than 127,
// as weights of u8 with a zero point of 0 do, is the sum of several i8 terms. The terms are
// adjacent in the weight, and the feature map is repeated for each term, so that the sum of
// products is the same integer. The sum has more products, and reaches the bound on their
// number earlier.

// countTerms returns the number of terms of i8 of each weight, at least 1. value returns weight k of
// output o.
func countTerms(outputs, perOutput int, value func(o, k int) int64) int {
	least, most := int64(0), int64(0)
	for o := range outputs {
		for k := range perOutput {
			v := value(o, k)
			least, most = min(least, v), max(most, v)
		}
	}
	return int(max(1, (most+126)/127, (-least+127)/128))
}

// splitWeight stores the terms of the weights in dst. For each output, all first terms come before all
// second terms.
func splitWeight(dst []int8, outputs, perOutput, terms int, value func(o, k int) int64) {
	for o := range outputs {
		for k := range perOutput {
			rest := value(o, k)
			for p := range terms {
				v := min(max(rest, -128), 127)
				dst[(o*terms+p)*perOutput+k] = int8(v)
				rest -= v
			}
		}
	}
}

// repeat returns x with the channels of each group repeated, once for each term of the weight. x has
// bytes, and its first axis has the channels by groups.
func (s *byteSum) repeat(c *call, x graph.Value, groups int) graph.Value {
	if s.copies == 1 {
		return x
	}
	shape := c.g.Type(x).Shape
	if groups < 1 || shape[0]%groups != 0 {
		return x // its shape is refused elsewhere
	}
	lines := append([]int{groups, shape[0] / groups}, shape[1:]...)
	apart := c.node(graph.Reshape, ".groups", []graph.Value{x}, "shape", lines)
	both := c.node(graph.ConcatInt8, ".repeated", slices.Repeat([]graph.Value{apart}, s.copies), "axis", 1)
	to := append([]int{shape[0] * s.copies}, shape[1:]...)
	return c.node(graph.Reshape, ".channels", []graph.Value{both}, "shape", to)
}
