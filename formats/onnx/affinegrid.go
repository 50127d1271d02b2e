package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"AffineGrid": {attributes: accept(2, "align_corners"), refused: "a size that is not constant",
			make: oneResult(affineGrid)},
		"MeanVarianceNormalization": {attributes: accept(1, "axes"), make: oneResult(meanVariance)},
	})
}

// affineGrid transforms the positions of the pixels of an image or a volume by a matrix per
// sample. A pixel's position has coordinates from -1 to 1, followed by a 1.
func affineGrid(c *call) graph.Value {
	s := c.Shape(0)
	size, _ := c.List("size", 1)
	axes := len(size) - 2
	if c.Err == nil && (axes != 2 && axes != 3 || len(s) != 2 || s[0] != axes || s[1] != axes+1) {
		c.Fail("of %v to %s is not supported, only of an image or a volume", s, element.Printed(size))
	}
	var lengths []int
	for i := range axes {
		if n := size[i+2]; c.Err == nil && (n < 1 || n > maxResized) {
			c.Fail("to %s", element.Printed(size))
		}
		lengths = append(lengths, int(size[i+2]))
	}
	if c.Err != nil || !c.Reserve(tensor.F32, append([]int{axes + 1}, lengths...)) {
		return graph.None
	}
	count := tensor.Count(lengths)
	from := tensor.New(tensor.F32, count, axes+1)
	for k := range count {
		row := from.F32()[k*(axes+1):][:axes+1]
		rest := k
		for a := axes - 1; a >= 0; a-- { // the last axis is x, which comes first
			row[axes-1-a] = placePixel(c, rest%lengths[a], lengths[a])
			rest /= lengths[a]
		}
		row[axes] = 1
	}
	v := c.node(graph.MatMul, ".places", []graph.Value{c.declare(c.Proto.Output[0]+".places", graph.Constant,
		from),
		c.Dynamic(0)}, "transpose_b", true)
	return c.node(graph.Reshape, "", []graph.Value{v}, "shape", append(lengths, axes))
}

// placePixel returns the coordinate of pixel i of n. The coordinates -1 and 1 are the outer edges of
// the first and last pixels or, with align_corners, their centres.
func placePixel(c *call, i, n int) float32 {
	if c.Int("align_corners", 0) == 0 {
		return float32(float64(2*i+1)/float64(n) - 1)
	}
	if n == 1 {
		return -1
	}
	return float32(float64(2*i)/float64(n-1) - 1)
}

// meanVariance subtracts the mean over axes and divides by the standard deviation.
func meanVariance(c *call) graph.Value {
	axes := []int{0, 2, 3}
	if a := c.Attribute("axes"); a != nil {
		axes = c.Ints("axes", len(a.Ints), 0)
	}
	var over []int
	for _, a := range axes {
		over = append(over, c.Axis(int64(a), len(c.Shape(0))))
	}
	slices.Sort(over) // axes may be in any order
	over = slices.Compact(over)
	mean := func(suffix string, x graph.Value) graph.Value {
		return c.node(graph.ReduceMean, suffix, []graph.Value{x}, "axes", over, "keep", true)
	}
	around := c.node(graph.Sub, ".around", []graph.Value{c.Dynamic(0), mean(".mean", c.Dynamic(0))})
	variance := func(suffix string, squares graph.Value) graph.Value { return mean(".variance"+suffix, squares) }
	deviation := norm{2, ".squares", ".deviation", variance}.add(c, around)
	above := c.node(graph.Affine, ".above", []graph.Value{deviation}, "add", shortest(1e-9))
	return c.node(graph.Div, "", []graph.Value{around, above})
}
