package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

// reshape keeps the batch where it is: the first length of the target must
// stand for it.
func reshape(c *call) graph.Value {
	from := c.shape(0)
	target, ok := c.list("shape", 1)
	if !ok || len(target) == 0 {
		c.fail("without a shape")
		return graph.None
	}
	if c.unbatched {
		return reshapeUnbatched(c, target)
	}
	first, rest := target[0], target[1:]
	batch := first == element.AnyBatch || first == 0 && c.int("allowzero", 0) == 0 || c.batch > 0 &&
		first == c.batch
	if !batch && (first != -1 || slices.Contains(rest, -1)) {
		if c.batchIsOne() {
			return reshapeUnbatched(c, target)
		}
		c.failAcrossBatch("to %s mixes the rows of the batch", element.Printed(target))
		return graph.None
	}
	shape, err := resolve(rest, from, true)
	if slices.Contains(rest, 0) { // 0 copies the length at the same index, which counts the batch
		shape, err = resolve(copied(rest, from), from, true)
	}
	if err != nil && c.batchIsOne() {
		return reshapeUnbatched(c, target)
	}
	if err != nil {
		c.failAcrossBatch("to %s: %w", element.Printed(target), err)
	}
	return c.node(graph.Reshape, "", []graph.Value{c.dynamic(0)}, "shape", shape)
}

// copied replaces zeros by the lengths at the same indices.
func copied(target []int64, from []int) []int64 {
	target = slices.Clone(target)
	for i := range target {
		if target[i] == 0 && i < len(from) {
			target[i] = int64(from[i])
		}
	}
	return target
}

// flatten to a matrix of rows.
func flatten(c *call) graph.Value {
	s := c.shape(0)
	axis := c.int("axis", 1)
	if all := c.fileShape(); c.err == nil && c.batchIsOne() {
		if axis < 0 {
			axis += len(all)
		}
		if axis < 0 || axis > len(all) {
			c.fail("at axis %d of a tensor of rank %d", axis, len(all))
			return graph.None
		}
		matrix := []int{tensor.Count(all[:axis]), tensor.Count(all[axis:])}
		return c.node(graph.Reshape, "", []graph.Value{c.dynamic(0)}, "shape", c.unbatchedShape(matrix))
	}
	if axis < 0 {
		axis += len(s) + 1
	}
	if axis != 1 {
		c.failAcrossBatch("at axis %d mixes the rows of the batch; axis 1 is supported", axis)
	}
	return c.node(graph.Reshape, "", []graph.Value{c.dynamic(0)}, "shape", []int{tensor.Count(s)})
}

func squeeze(c *call) graph.Value {
	s := c.shape(0)
	axes, given := c.squeezed()
	if c.batchIsOne() {
		return squeezeUnbatched(c, axes, given)
	}
	if !given {
		c.fail("without axes could take the batch's")
	}
	drop := map[int]bool{}
	for _, a := range axes {
		drop[c.axis(a, len(s))] = true
	}
	var shape []int
	for a, n := range s {
		switch {
		case !drop[a]:
			shape = append(shape, n)
		case n != 1:
			c.fail("axis %d has the length %d", a+1, n)
		}
	}
	return c.node(graph.Reshape, "", []graph.Value{c.dynamic(0)}, "shape", shape)
}

func unsqueeze(c *call) graph.Value {
	s := c.shape(0)
	axes, _ := c.list("axes", 1)
	rank := len(s) + len(axes)
	if i := slices.Index(axes, 0); c.unbatched && !c.tracked() && i >= 0 { // the batch is back
		axes, rank, c.unbatched = slices.Delete(slices.Clone(axes), i, i+1), rank-1, false
	}
	if rank >= tensor.MaxRank {
		c.fail("makes a tensor of rank %d", rank+1)
		return graph.None
	}
	shape := make([]int, rank)
	for _, a := range axes {
		if at := c.axis(a, rank); c.err == nil {
			shape[at] = 1
		}
	}
	for a := range shape {
		if shape[a] == 0 && len(s) > 0 {
			shape[a], s = s[0], s[1:]
		}
	}
	return c.node(graph.Reshape, "", []graph.Value{c.dynamic(0)}, "shape", shape)
}

// expand broadcasts to a shape whose first length leaves the batch as it is.
func expand(c *call) graph.Value {
	from := c.shape(0)
	l, _ := c.list("shape", 1)
	rank := len(from) + 1
	if !c.unbatched && (len(l) > rank || len(l) == rank && l[0] != 1 && l[0] != element.AnyBatch &&
		(c.batch == 0 || l[0] != c.batch)) {
		c.failAcrossBatch("to %s changes the batch", element.Printed(l))
		return graph.None
	}
	if !c.unbatched {
		l = l[max(len(l)-len(from), 0):]
	}
	var to []int
	for _, n := range l {
		if times, ok := element.TimesBatch(n); ok && c.unbatched {
			n = times
		}
		to = append(to, int(min(max(c.concrete(n), 0), 1<<30)))
	}
	shape, err := graph.Broadcast(from, to)
	if err != nil {
		c.fail("%w", err)
	}
	return c.node(graph.BroadcastTo, "", []graph.Value{c.dynamic(0)}, "shape", shape)
}
