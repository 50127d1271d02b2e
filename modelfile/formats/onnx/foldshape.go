package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

func foldReshape(c *Node) tensor.Tensor {
	t := c.required(0)
	target, ok := c.list("shape", 1)
	for i := range target {
		target[i] = c.concrete(target[i])
	}
	shape, err := resolve(target, t.Shape, c.int("allowzero", 0) != 0)
	if !ok {
		c.fail("without a shape")
	} else if err != nil {
		c.fail("%w", err)
	}
	if c.err != nil {
		return nothing
	}
	return t.Reshape(shape...)
}

func foldFlatten(c *Node) tensor.Tensor {
	t, axis := c.required(0), c.int("axis", 1)
	if axis < 0 {
		axis += len(t.Shape)
	}
	if axis < 0 || axis > len(t.Shape) {
		c.fail("at axis %d of a constant of rank %d", axis, len(t.Shape))
	}
	if c.err != nil {
		return nothing
	}
	return t.Reshape(tensor.Count(t.Shape[:axis]), tensor.Count(t.Shape[axis:]))
}

func foldSqueeze(c *Node) tensor.Tensor {
	t := c.required(0)
	axes, given := c.squeezed()
	shape := dropAxesOf(c, t.Shape, axes, given)
	if c.err != nil {
		return nothing
	}
	return t.Reshape(shape...)
}

// dropAxesOf returns a shape without axes of length 1: those given, or all.
func dropAxesOf(c *Node, from []int, axes []int64, given bool) (shape []int) {
	drop := c.dropped(from, axes, given)
	for a, length := range from {
		if !drop[a] {
			shape = append(shape, length)
		}
	}
	return shape
}

func foldUnsqueeze(c *Node) tensor.Tensor {
	t := c.required(0)
	axes, _ := c.list("axes", 1)
	rank := len(t.Shape) + len(axes)
	if rank > tensor.MaxRank {
		c.fail("a result of rank %d", rank)
	}
	if c.err != nil {
		return nothing
	}
	shape := make([]int, rank)
	for _, a := range axes {
		if at := c.foldAxis(a, rank); c.err == nil {
			shape[at]++
		}
	}
	rest := t.Shape
	for a := range shape {
		switch {
		case shape[a] > 1:
			c.fail("axes are %v", axes)
		case shape[a] == 0 && len(rest) > 0:
			shape[a], rest = rest[0], rest[1:]
		}
	}
	if c.err != nil {
		return nothing
	}
	return t.Reshape(shape...)
}

// foldExpand broadcasts to a shape.
func foldExpand(c *Node) tensor.Tensor {
	t := c.required(0)
	l, _ := c.list("shape", 1)
	for i := range l {
		l[i] = c.concrete(l[i])
	}
	to, err := element.Lengths(t.DType, l)
	if err == nil {
		to, err = graph.Broadcast(t.Shape, to)
	}
	if err != nil {
		c.fail("%w", err)
	}
	if c.err != nil {
		return nothing
	}
	return c.gathered(t, to, element.BroadcastIndex(t.Shape, len(to)))
}

func foldTile(c *Node) tensor.Tensor {
	t := c.required(0)
	times, _ := c.list("repeats", 1)
	if c.err == nil && len(times) != len(t.Shape) {
		c.fail("%d repeats for %d axes", len(times), len(t.Shape))
	}
	if c.err != nil {
		return nothing
	}
	shape := slices.Clone(t.Shape)
	for a, n := range times {
		if n = c.concrete(n); n < 0 || n > 1<<30 || n > 0 && shape[a] > 1<<30/int(n) {
			c.fail("repeats are %s", element.Printed(times))
			return nothing
		}
		shape[a] *= int(n)
	}
	step := element.Strides(t.Shape)
	return c.gathered(t, shape, func(at []int) int {
		from := 0
		for a := range at {
			from += at[a] % t.Shape[a] * step[a]
		}
		return from
	})
}

// foldPad adds elements at the ends of axes, or cuts some.
func foldPad(c *Node) tensor.Tensor {
	t := c.required(0)
	rank := len(t.Shape)
	before, after := c.padding(rank, func(a int64) int { return c.foldAxis(a, rank) }, rank)
	mode := c.text("mode", "constant")
	if mode != "constant" && mode != "reflect" && mode != "edge" {
		c.fail("mode is %.40q", mode)
	}
	if c.err != nil {
		return nothing
	}
	shape := slices.Clone(t.Shape)
	for a, n := range t.Shape {
		shape[a] += before[a] + after[a]
		most := max(before[a], after[a])
		switch {
		case shape[a] < 0 || mode != "constant" && most > 0 && n == 0 || mode == "reflect" && most >= n && most > 0:
			c.fail("%d and %d elements at the ends of an axis of %d", before[a], after[a], n)
			return nothing
		}
	}
	step := element.Strides(t.Shape)
	outside := false
	fill := readPadding(c, t)
	out := c.gathered(t, shape, func(at []int) int {
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
	if c.err == nil && mode == "constant" {
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

// readPadding returns the number with which a constant is padded, of its type.
func readPadding(c *Node, t tensor.Tensor) tensor.Tensor {
	if fill, ok := c.constant(2); ok {
		if fill.Count() != 1 || fill.DType != t.DType {
			c.fail("with %v around %v is not supported", fill, t)
		}
		return fill
	}
	fill := tensor.New(t.DType)
	if v := c.float("value", 0); v != 0 && element.IsFloat(t.DType) {
		element.SetReal(fill, 0, v)
	} else if v != 0 {
		c.fail("with %v around %v is not supported", v, t)
	}
	return fill
}

// inner returns which element of an axis of n a mode puts at index i; ok is false where that is
// none.
func inner(i, n int, mode string) (at int, ok bool) {
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

// foldWhere takes elements of one constant or another one.
func foldWhere(c *Node) tensor.Tensor {
	test, yes, no := c.required(0), c.required(1), c.required(2)
	if c.err == nil && (test.DType != tensor.Bool || yes.DType != no.DType) {
		c.fail("of %v, %v and %v", test, yes, no)
	}
	shape, err := graph.Broadcast(yes.Shape, no.Shape)
	if err == nil {
		shape, err = graph.Broadcast(test.Shape, shape)
	}
	if err != nil {
		c.fail("%w", err)
	}
	out := c.newConstant(yes.DType, shape)
	if c.err != nil {
		return nothing
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

// foldTrilu leaves the upper or the lower triangle of matrices.
func foldTrilu(c *Node) tensor.Tensor {
	t, k, upper := c.required(0), int64(0), c.int("upper", 1) != 0
	if c.has(1) {
		l, _ := c.list("k", 1)
		if len(l) != 1 {
			c.fail("k is %v", l)
			return nothing
		}
		k = l[0]
	}
	rank := len(t.Shape)
	if c.err == nil && rank < 2 {
		c.fail("of a constant of rank %d", rank)
	}
	if c.err != nil {
		return nothing
	}
	step := element.Strides(t.Shape)
	return c.gathered(t, t.Shape, func(at []int) int {
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
