package keras

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// edges reads the lengths to add or cut at both ends of every spatial axis: one number for
// all, one per axis, or a pair per axis.
func (c *call) edges(key string, axes int) [][2]int {
	out := make([][2]int, axes)
	raw := c.m[key]
	var pairs [][2]int
	one, single := integer(raw)
	each, list := integers(raw)
	switch {
	case !c.has(key):
		c.fail("has no %s", key)
	case single:
		pairs = slices.Repeat([][2]int{{one, one}}, axes)
	case axes == 1 && list && len(each) == 2:
		pairs = [][2]int{{each[0], each[1]}}
	case list && len(each) == 4: // Keras 1: top, bottom, left, right
		pairs = [][2]int{{each[0], each[1]}, {each[2], each[3]}}
	case list:
		for _, n := range each {
			pairs = append(pairs, [2]int{n, n})
		}
	default:
		pairs = c.pairs(key)
	}
	if c.err == nil && len(pairs) != axes {
		c.fail("%s is %.80s for %d axes", key, raw, axes)
	}
	copy(out, pairs)
	return out
}

// pairs reads a list of pairs of integers.
func (c *call) pairs(key string) [][2]int {
	var all []json.RawMessage
	var pairs [][2]int
	if json.Unmarshal(c.m[key], &all) != nil {
		c.fail("%s is %.80s, want integers or pairs of them", key, c.m[key])
	}
	for _, one := range all {
		pair, ok := integers(one)
		if !ok || len(pair) != 2 {
			c.fail("%s is %.80s, want integers or pairs of them", key, c.m[key])
			return nil
		}
		pairs = append(pairs, [2]int{pair[0], pair[1]})
	}
	return pairs
}

// pad adds zeros around an image or a 1-D sample.
func pad(c *call) flow {
	x := c.channelsFirst(c.operand())
	edges := c.edges("padding", len(x.shape)-1)
	before, after := []int{0}, []int{0}
	for _, e := range edges {
		before, after = append(before, e[0]), append(after, e[1])
	}
	if c.alongFirst() {
		before, after = []int{before[1], 0}, []int{after[1], 0}
	}
	return c.shaped(c.node(graph.Pad, "", []graph.Value{x.v}, "before", before, "after", after))
}

// alongFirst reports whether a layer for 1-D samples works along axis 0 although the model
// keeps its channels there. This is true of layers without data_format.
func (c *call) alongFirst() bool {
	return c.first && strings.Contains(c.l.class, "1D") && !c.has("data_format")
}

// crop cuts off the edges of an image.
func crop(c *call) flow {
	x := c.channelsFirst(c.operand())
	shape := c.graphShape(x.shape)
	begin, end := []int{0}, slices.Clone(shape)
	for a, e := range c.edges("cropping", 2) {
		if c.err == nil {
			begin = append(begin, e[0])
			end[a+1] -= e[1]
		}
	}
	return c.shaped(c.node(graph.Slice, "", []graph.Value{x.v}, "begin", begin, "end", end))
}

// upsample repeats elements, or interpolates with half-pixel centres as
// TensorFlow 2 does. TensorFlow 1 had other centres.
func upsample(c *call) flow {
	x := c.channelsFirst(c.operand())
	axes := len(x.shape) - 1
	by := windowSpec{kernel: c.ints("size", axes, 2), stride: []int{1}, dilation: []int{1}}.two().kernel
	mode := c.text("interpolation", "nearest")
	_, size := c.spatialSize(x)
	switch {
	case slices.Min(by) < 1 || slices.Max(by) > 1<<16:
		return c.fail("size is %v", by)
	case mode == "bilinear" && c.old:
		return c.fail("bilinear as in TensorFlow 1 is not supported")
	}
	if c.alongFirst() {
		shape := []int{x.shape[0] * by[1], x.shape[1]}
		v := c.node(graph.Reshape, ".image", []graph.Value{x.v}, "shape", append([]int{1}, x.shape...))
		v = c.node(graph.Upsample, "", []graph.Value{v}, "size", shape, "mode", mode)
		return c.shaped(c.node(graph.Reshape, ".line", []graph.Value{v}, "shape", shape))
	}
	v := c.node(graph.Upsample, "", []graph.Value{c.toImage(x)},
		"size", []int{size[0] * by[0], size[1] * by[1]}, "mode", mode)
	return c.fromImage(v, axes)
}

// flatten keeps the order of the elements in the graph and records it.
func flatten(c *call) flow {
	x := c.inElementOrder(c.operand())
	shape := c.graphShape(x.shape)
	n := tensor.Count(x.shape)
	lastInFile := !c.first
	if c.text("data_format", "channels_last") == "channels_first" {
		if !c.first {
			return c.fail("takes channels first in a model that keeps them last")
		}
		lastInFile = true // Keras transposes this tensor before it flattens
	}
	v := c.node(graph.Reshape, "", []graph.Value{x.v}, "shape", []int{n})
	f := flow{v: v, shape: []int{n}, logits: graph.None}
	if !x.kerasOrder && len(shape) > 1 && lastInFile && changesOrder(shape, c.lastOrder(len(shape))) {
		f.flat = shape
	}
	return f
}

// reshape keeps the elements in the order of Keras; axes are moved only if
// that changes the order.
func reshape(c *call) flow {
	x := c.inElementOrder(c.operand())
	target := c.fields.list("target_shape", "a list of lengths")
	if err := fillShape(target, tensor.Count(x.shape)); err != nil {
		return c.fail("%w", err)
	}
	v := x.v
	if perm := c.toKeras(len(x.shape)); !x.kerasOrder && changesOrder(c.graphShape(x.shape), perm) {
		v = c.node(graph.Transpose, ".theirs", []graph.Value{v}, "perm", perm)
	}
	if c.keepsKerasOrder(len(target)) {
		return c.inKerasOrder(c.node(graph.Reshape, "", []graph.Value{v}, "shape", target))
	}
	back := inverse(c.toKeras(len(target)))
	if !changesOrder(target, back) {
		return c.shaped(c.node(graph.Reshape, "", []graph.Value{v}, "shape", c.graphShape(target)))
	}
	v = c.node(graph.Reshape, ".shape", []graph.Value{v}, "shape", target)
	return c.shaped(c.node(graph.Transpose, "", []graph.Value{v}, "perm", back))
}

// fillShape replaces a length of -1 so that the shape has n elements.
func fillShape(shape []int, n int) error {
	open, rest := -1, 1
	for i, s := range shape {
		switch {
		case s == -1 && open < 0:
			open = i
		case s < 1 || rest > 1<<30/s:
			return fmt.Errorf("target shape %v", shape)
		default:
			rest *= s
		}
	}
	if open >= 0 && n%rest == 0 {
		shape[open] = n / rest
		rest = n
	}
	if len(shape) == 0 || len(shape) > tensor.MaxRank || rest != n {
		return fmt.Errorf("target shape %v for %d elements", shape, n)
	}
	return nil
}

// permute makes axis i of the result from axis dims[i] of the operand. dims counts from 1.
func permute(c *call) flow {
	x := c.inElementOrder(c.operand())
	rank := len(x.shape)
	dims := c.ints("dims", rank, 0)
	perm := make([]int, rank)
	for i, d := range dims {
		if d < 1 || d > rank {
			return c.fail("dims are %s", strings.Trim(fmt.Sprint(dims), "[]"))
		}
		perm[c.axisInGraph(x, i)] = c.axisInGraph(x, d-1)
	}
	return c.like(x, c.node(graph.Transpose, "", []graph.Value{x.v}, "perm", perm))
}
