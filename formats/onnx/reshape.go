package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"Expand": {attributes: accept(2, ""), make: oneResult(expand), fold: fold.One(fold.Expand),
			batch: batchaxis.Expanded, integers: move | keepBounds, grows: growPair(growFirst),
			traits: hasSettings | onWeights},
		"Flatten": {attributes: accept(1, "axis"),
			refused: "axes other than 1, unless the file fixes the batch to 1", make: oneResult(flatten),
			fold: fold.One(fold.Flatten), batch: batchaxis.Flattened, integers: move | keepBounds,
			bytes: anyBytes, grows: growAlone, traits: followsArgMax | onlyReshapes | onWeights},
		"Reshape": {attributes: accept(2, "allowzero shape", "consumed_inputs"), make: oneResult(reshape),
			fold: fold.One(fold.Reshape), batch: batchaxis.Reshaped, integers: move | keepBounds, bytes: anyBytes,
			grows:  growAlone,
			traits: followsArgMax | onlyReshapes | hasSettings | onWeights | preparesInput},
		"Squeeze": {attributes: accept(2, "axes"), refused: "an empty list of axes", make: oneResult(squeeze),
			fold: fold.One(fold.Squeeze), batch: batchaxis.Squeezed, integers: move | keepBounds, bytes: anyBytes,
			grows:  growAlone,
			traits: followsArgMax | onlyReshapes | hasSettings | onWeights | preparesInput},
		"Unsqueeze": {attributes: accept(2, "axes"), make: oneResult(unsqueeze), fold: fold.One(fold.Unsqueeze),
			batch: batchaxis.Unsqueezed, integers: move | keepBounds, bytes: anyBytes, grows: growAlone,
			traits: followsArgMax | onlyReshapes | hasSettings | onWeights | preparesInput},
	})
}

// reshape keeps the batch axis. The first length of the target must be the batch.
func reshape(c *call) graph.Value {
	from := c.Shape(0)
	target, ok := c.List("shape", 1)
	if !ok || len(target) == 0 {
		c.Fail("without a shape")
		return graph.None
	}
	if c.Unbatched {
		return reshapeUnbatched(c, target)
	}
	first, rest := target[0], target[1:]
	batch := first == element.AnyBatch || first == 0 && c.Int("allowzero", 0) == 0 || c.Batch > 0 &&
		first == c.Batch
	if !batch && (first != -1 || slices.Contains(rest, -1)) {
		if c.batchIsOne() {
			return reshapeUnbatched(c, target)
		}
		c.FailAcrossBatch("to %s mixes the rows of the batch", element.Printed(target))
		return graph.None
	}
	shape, err := node.Resolve(rest, from, true)
	if slices.Contains(rest, 0) { // 0 copies the length at the same index; the batch has index 0
		shape, err = node.Resolve(copied(rest, from), from, true)
	}
	if err != nil && c.batchIsOne() {
		return reshapeUnbatched(c, target)
	}
	if err != nil {
		c.FailAcrossBatch("to %s: %w", element.Printed(target), err)
	}
	return c.node(graph.Reshape, "", []graph.Value{c.Dynamic(0)}, "shape", shape)
}

// copied replaces zeros by the lengths at the same indices.
func copied(target []int64, lengths []int) []int64 {
	target = slices.Clone(target)
	for i := range target {
		if target[i] == 0 && i < len(lengths) {
			target[i] = int64(lengths[i])
		}
	}
	return target
}

// flatten returns operand 0 as a matrix. The axes before the attribute axis become the rows
// of the matrix.
func flatten(c *call) graph.Value {
	s := c.Shape(0)
	axis := c.Int("axis", 1)
	if all := c.fileShape(); c.Err == nil && c.batchIsOne() {
		if axis < 0 {
			axis += len(all)
		}
		if axis < 0 || axis > len(all) {
			c.Fail("at axis %d of a tensor of rank %d", axis, len(all))
			return graph.None
		}
		matrix := []int{tensor.Count(all[:axis]), tensor.Count(all[axis:])}
		return c.node(graph.Reshape, "", []graph.Value{c.Dynamic(0)}, "shape", c.unbatchedShape(matrix))
	}
	if axis < 0 {
		axis += len(s) + 1
	}
	if axis != 1 {
		c.FailAcrossBatch("at axis %d mixes the rows of the batch; axis 1 is supported", axis)
	}
	return c.node(graph.Reshape, "", []graph.Value{c.Dynamic(0)}, "shape", []int{tensor.Count(s)})
}

func squeeze(c *call) graph.Value {
	s := c.Shape(0)
	axes, given := c.Squeezed()
	if c.batchIsOne() {
		return squeezeUnbatched(c, axes, given)
	}
	if !given {
		c.Fail("without axes could take the batch's")
	}
	drop := map[int]bool{}
	for _, a := range axes {
		drop[c.Axis(a, len(s))] = true
	}
	var shape []int
	for a, n := range s {
		switch {
		case !drop[a]:
			shape = append(shape, n)
		case n != 1:
			c.Fail("axis %d has the length %d", a+1, n)
		}
	}
	return c.node(graph.Reshape, "", []graph.Value{c.Dynamic(0)}, "shape", shape)
}

func unsqueeze(c *call) graph.Value {
	s := c.Shape(0)
	axes, _ := c.List("axes", 1)
	rank := len(s) + len(axes)
	if i := slices.Index(axes, 0); c.Unbatched && !c.Tracked() && i >= 0 { // the batch axis is back
		axes, rank, c.Unbatched = slices.Delete(slices.Clone(axes), i, i+1), rank-1, false
	}
	if rank >= tensor.MaxRank {
		c.Fail("makes a tensor of rank %d", rank+1)
		return graph.None
	}
	shape := make([]int, rank)
	for _, a := range axes {
		if at := c.Axis(a, rank); c.Err == nil {
			shape[at] = 1
		}
	}
	for a := range shape {
		if shape[a] == 0 && len(s) > 0 {
			shape[a], s = s[0], s[1:]
		}
	}
	return c.node(graph.Reshape, "", []graph.Value{c.Dynamic(0)}, "shape", shape)
}

// expand broadcasts to a shape that begins with the batch.
func expand(c *call) graph.Value {
	from := c.Shape(0)
	l, _ := c.List("shape", 1)
	rank := len(from) + 1
	if !c.Unbatched && (len(l) > rank || len(l) == rank && l[0] != 1 && l[0] != element.AnyBatch &&
		(c.Batch == 0 || l[0] != c.Batch)) {
		c.FailAcrossBatch("to %s changes the batch", element.Printed(l))
		return graph.None
	}
	if !c.Unbatched {
		l = l[max(len(l)-len(from), 0):]
	}
	var to []int
	for _, n := range l {
		if times, ok := element.TimesBatch(n); ok && c.Unbatched {
			n = times
		}
		to = append(to, int(min(max(c.Concrete(n), 0), 1<<30)))
	}
	shape, err := graph.Broadcast(from, to)
	if err != nil {
		c.Fail("%w", err)
	}
	return c.node(graph.BroadcastTo, "", []graph.Value{c.Dynamic(0)}, "shape", shape)
}
