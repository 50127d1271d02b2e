package fold

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Reshape gives a constant another shape.
func Reshape(c *node.Node) tensor.Tensor {
	t := c.Required(0)
	target, ok := c.List("shape", 1)
	for i := range target {
		target[i] = c.Concrete(target[i])
	}
	shape, err := node.Resolve(target, t.Shape, c.Int("allowzero", 0) != 0)
	if !ok {
		c.Fail("without a shape")
	} else if err != nil {
		c.Fail("%w", err)
	}
	if c.Err != nil {
		return node.Nothing
	}
	return t.Reshape(shape...)
}

// Flatten returns a constant as a matrix.
func Flatten(c *node.Node) tensor.Tensor {
	t, axis := c.Required(0), c.Int("axis", 1)
	if axis < 0 {
		axis += len(t.Shape)
	}
	if axis < 0 || axis > len(t.Shape) {
		c.Fail("at axis %d of a constant of rank %d", axis, len(t.Shape))
	}
	if c.Err != nil {
		return node.Nothing
	}
	return t.Reshape(tensor.Count(t.Shape[:axis]), tensor.Count(t.Shape[axis:]))
}

// Squeeze removes axes of length 1.
func Squeeze(c *node.Node) tensor.Tensor {
	t := c.Required(0)
	axes, given := c.Squeezed()
	shape := dropAxesOf(c, t.Shape, axes, given)
	if c.Err != nil {
		return node.Nothing
	}
	return t.Reshape(shape...)
}

// dropAxesOf returns a shape without axes of length 1. It removes the axes in axes or, if hasAxes is false,
// all axes of length 1.
func dropAxesOf(c *node.Node, operandShape []int, axes []int64, hasAxes bool) (shape []int) {
	drop := c.Dropped(operandShape, axes, hasAxes)
	for a, length := range operandShape {
		if !drop[a] {
			shape = append(shape, length)
		}
	}
	return shape
}

// Unsqueeze inserts axes of length 1.
func Unsqueeze(c *node.Node) tensor.Tensor {
	t := c.Required(0)
	axes, _ := c.List("axes", 1)
	rank := len(t.Shape) + len(axes)
	if rank > tensor.MaxRank {
		c.Fail("a result of rank %d", rank)
	}
	if c.Err != nil {
		return node.Nothing
	}
	shape := make([]int, rank)
	for _, a := range axes {
		if at := c.FoldAxis(a, rank); c.Err == nil {
			shape[at]++
		}
	}
	rest := t.Shape
	for a := range shape {
		switch {
		case shape[a] > 1:
			c.Fail("axes are %v", axes)
		case shape[a] == 0 && len(rest) > 0:
			shape[a], rest = rest[0], rest[1:]
		}
	}
	if c.Err != nil {
		return node.Nothing
	}
	return t.Reshape(shape...)
}

// Expand broadcasts to a shape.
func Expand(c *node.Node) tensor.Tensor {
	t := c.Required(0)
	l, _ := c.List("shape", 1)
	for i := range l {
		l[i] = c.Concrete(l[i])
	}
	to, err := element.Lengths(t.DType, l)
	if err == nil {
		to, err = graph.Broadcast(t.Shape, to)
	}
	if err != nil {
		c.Fail("%w", err)
	}
	if c.Err != nil {
		return node.Nothing
	}
	return c.Gathered(t, to, element.BroadcastIndex(t.Shape, len(to)))
}

// Tile repeats a constant along axes.
func Tile(c *node.Node) tensor.Tensor {
	t := c.Required(0)
	times, _ := c.List("repeats", 1)
	if c.Err == nil && len(times) != len(t.Shape) {
		c.Fail("%d repeats for %d axes", len(times), len(t.Shape))
	}
	if c.Err != nil {
		return node.Nothing
	}
	shape := slices.Clone(t.Shape)
	for a, n := range times {
		if n = c.Concrete(n); n < 0 || n > 1<<30 || n > 0 && shape[a] > 1<<30/int(n) {
			c.Fail("repeats are %s", element.Printed(times))
			return node.Nothing
		}
		shape[a] *= int(n)
	}
	step := element.Strides(t.Shape)
	return c.Gathered(t, shape, func(at []int) int {
		from := 0
		for a := range at {
			from += at[a] % t.Shape[a] * step[a]
		}
		return from
	})
}

// Pad adds elements at the ends of axes, or removes some.
func Pad(c *node.Node) tensor.Tensor {
	t := c.Required(0)
	rank := len(t.Shape)
	before, after := c.Padding(rank, func(a int64) int { return c.FoldAxis(a, rank) }, rank)
	mode := c.Text("mode", "constant")
	if mode != "constant" && mode != "reflect" && mode != "edge" {
		c.Fail("mode is %.40q", mode)
	}
	if c.Err != nil {
		return node.Nothing
	}
	shape := slices.Clone(t.Shape)
	for a, n := range t.Shape {
		shape[a] += before[a] + after[a]
		most := max(before[a], after[a])
		switch {
		case shape[a] < 0 || mode != "constant" && most > 0 && n == 0 || mode == "reflect" && most >= n && most > 0:
			c.Fail("%d and %d elements at the ends of an axis of %d", before[a], after[a], n)
			return node.Nothing
		}
	}
	step := element.Strides(t.Shape)
	outside := false
	fill := readPadding(c, t)
	out := c.Gathered(t, shape, func(at []int) int {
		from := 0
		outside = false
		for a := range at {
			i, ok := inner(at[a]-before[a], t.Shape[a], mode)
			outside = outside || !ok
			from += i * step[a]
		}
		if outside {
			return -1
		}
		return from
	})
	if c.Err == nil && mode == "constant" {
		element.Each(shape, func(k int, at []int) {
			for a := range at {
				if i := at[a] - before[a]; i < 0 || i >= t.Shape[a] {
					element.Move(out, k, fill, 0)
				}
			}
		})
	}
	return out
}

// readPadding returns the padding value of a Pad, in the type of t.
func readPadding(c *node.Node, t tensor.Tensor) tensor.Tensor {
	if fill, ok := c.Constant(2); ok {
		if fill.Count() != 1 || fill.DType != t.DType {
			c.Fail("with %v around %v is not supported", fill, t)
		}
		return fill
	}
	fill := tensor.New(t.DType)
	if v := c.Float("value", 0); v != 0 && element.IsFloat(t.DType) {
		element.SetReal(fill, 0, v)
	} else if v != 0 {
		c.Fail("with %v around %v is not supported", v, t)
	}
	return fill
}

// inner returns the index of the element that a padding mode copies to index i, on an axis of length n.
// ok is false if the padding value is used instead.
func inner(i, n int, mode string) (index int, ok bool) {
	inside := i >= 0 && i < n
	switch {
	case inside:
		return i, true
	case mode == "edge":
		return min(max(i, 0), n-1), true
	case mode == "reflect" && i < 0:
		return -i, true
	case mode == "reflect":
		return 2*(n-1) - i, true
	}
	return 0, false
}

// Where selects each element from one of two constants.
func Where(c *node.Node) tensor.Tensor {
	test, yes, no := c.Required(0), c.Required(1), c.Required(2)
	if c.Err == nil && (test.DType != tensor.Bool || yes.DType != no.DType) {
		c.Fail("of %v, %v and %v", test, yes, no)
	}
	shape, err := graph.Broadcast(yes.Shape, no.Shape)
	if err == nil {
		shape, err = graph.Broadcast(test.Shape, shape)
	}
	if err != nil {
		c.Fail("%w", err)
	}
	out := c.NewConstant(yes.DType, shape)
	if c.Err != nil {
		return node.Nothing
	}
	rank := len(shape)
	ofTest, ofYes := element.BroadcastIndex(test.Shape, rank), element.BroadcastIndex(yes.Shape, rank)
	ofNo := element.BroadcastIndex(no.Shape, rank)
	element.Each(shape, func(k int, at []int) {
		if test.Bytes[ofTest(at)] != 0 {
			element.Move(out, k, yes, ofYes(at))
		} else {
			element.Move(out, k, no, ofNo(at))
		}
	})
	return out
}

// Trilu keeps the upper or the lower triangle of matrices, and sets other elements to 0.
func Trilu(c *node.Node) tensor.Tensor {
	t, k, upper := c.Required(0), int64(0), c.Int("upper", 1) != 0
	if c.Has(1) {
		l, _ := c.List("k", 1)
		if len(l) != 1 {
			c.Fail("k is %v", l)
			return node.Nothing
		}
		k = l[0]
	}
	rank := len(t.Shape)
	if c.Err == nil && rank < 2 {
		c.Fail("of a constant of rank %d", rank)
	}
	if c.Err != nil {
		return node.Nothing
	}
	step := element.Strides(t.Shape)
	return c.Gathered(t, t.Shape, func(at []int) int {
		from := 0
		for a := range at {
			from += at[a] * step[a]
		}
		if d := int64(at[rank-1] - at[rank-2]); upper && d < k || !upper && d > k {
			return -1
		}
		return from
	})
}
