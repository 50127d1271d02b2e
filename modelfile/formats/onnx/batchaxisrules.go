package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

// Where the batch is in the results of operators, and which of them mix rows.

// alignedAxis is that of operands that broadcast, aligned at their last axes: values have the batch
// at one axis, constants the length 1 there.
func alignedAxis(c *Node) (batchAxis, error) { return alignedAxisTo(c, 0) }

// alignedAxisTo is alignedAxis where the last axes, as many as behind says, are not aligned.
func alignedAxisTo(c *Node, behind int) (batchAxis, error) {
	rank, end, found := 0, 0, batchAxis{}
	for i, x := range c.in {
		s := c.fileShapeOf(i)
		rank = max(rank, len(s))
		if x.isConstant() {
			continue
		}
		at := len(s) - x.batchAxis.axis
		if at <= behind || end != 0 && (end != at || !found.as(x.batchAxis)) {
			return batchAxis{}, errMixes
		}
		end, found = at, x.batchAxis
	}
	for i, x := range c.in {
		if s := c.fileShapeOf(i); c.has(i) && x.isConstant() && len(s) >= end && s[len(s)-end] != 1 {
			return batchAxis{}, errMixes
		}
	}
	found.axis = rank - end
	return found, nil
}

// besideAxis is that of an operator that works along an axis, and on each of its elements.
func besideAxis(c *Node) (batchAxis, error) {
	def := 0
	if c.n.OpType == "LpNormalization" {
		def = -1
	}
	if p := c.in[0].batchAxis; c.axisOf("axis", def) != p.axis {
		return p, nil
	}
	return batchAxis{}, errMixes
}

// quantisedAxis: a scale may be that of an index of an axis.
func quantisedAxis(c *Node) (batchAxis, error) {
	if p := c.in[0].batchAxis; !c.scalesAxis() || c.axisOf("axis", 1) != p.axis {
		return p, nil
	}
	return batchAxis{}, errMixes
}

// softmaxAxis: up to operator set 12 the axis begins a range.
func softmaxAxis(c *Node) (batchAxis, error) {
	if c.opset >= 13 {
		if p := c.in[0].batchAxis; c.axisOf("axis", -1) != p.axis {
			return p, nil
		}
	} else if p := c.in[0].batchAxis; c.axisOf("axis", 1) > p.axis {
		return p, nil
	}
	return batchAxis{}, errMixes
}

func layerNormAxis(c *Node) (batchAxis, error) {
	p := c.in[0].batchAxis
	for i := 1; i < len(c.in); i++ {
		if !c.in[i].isConstant() || c.has(i) && tensor.Count(c.in[i].c.Shape) != tensor.Count(
			c.shape(0)[c.axisOf("axis", -1):]) {
			return batchAxis{}, errMixes
		}
	}
	if c.axisOf("axis", -1) > p.axis {
		return p, nil
	}
	return batchAxis{}, errMixes
}

func reducedAxis(c *Node) (batchAxis, error) {
	p, rank := c.in[0].batchAxis, len(c.shape(0))
	axes, ok := c.list("axes", 1)
	if !ok || len(axes) == 0 {
		if c.int("noop_with_empty_axes", 0) != 0 {
			return p, nil
		}
		return batchAxis{}, errMixes
	}
	gone := make([]bool, rank)
	for _, a := range axes {
		gone[c.foldAxis(a, rank)] = true
	}
	if c.err != nil || gone[p.axis] {
		return batchAxis{}, errMixes
	}
	if c.int("keepdims", 1) == 0 {
		p.axis -= count(gone[:p.axis])
	}
	return p, nil
}

// count returns how many of l are true.
func count(l []bool) (n int) {
	for _, yes := range l {
		if yes {
			n++
		}
	}
	return n
}

func transposedAxis(c *Node) (batchAxis, error) {
	p := c.in[0].batchAxis
	p.axis = slices.Index(c.permutation(len(c.shape(0))), p.axis)
	return p, nil
}

func unsqueezedAxis(c *Node) (batchAxis, error) {
	p := c.in[0].batchAxis
	axes, _ := c.list("axes", 1)
	rank := len(c.shape(0)) + len(axes)
	isNew := make([]bool, rank)
	for _, a := range axes {
		isNew[c.foldAxis(a, rank)] = true
	}
	if c.err != nil || count(isNew) != len(axes) {
		return batchAxis{}, errMixes
	}
	old := -1
	for a, yes := range isNew {
		if !yes {
			old++
		}
		if old == p.axis {
			p.axis = a
			break
		}
	}
	return p, nil
}

func squeezedAxis(c *Node) (batchAxis, error) {
	p := c.in[0].batchAxis
	axes, given := c.squeezed()
	if !given {
		return batchAxis{}, errMixes
	}
	drop := c.dropped(c.shape(0), axes, given)
	if c.err != nil || drop[p.axis] {
		return batchAxis{}, errMixes
	}
	p.axis -= count(drop[:p.axis])
	return p, nil
}

// expandedAxis: the length at the batch's axis is 1, or that which it has.
func expandedAxis(c *Node) (batchAxis, error) {
	p, s := c.in[0].batchAxis, c.shape(0)
	l, _ := c.list("shape", 1)
	more := len(l) - len(s)
	for i, n := range l {
		times, ok := element.TimesBatch(n)
		here := i == p.axis+more
		if here && n != 1 && times != int64(p.outer*p.inner) || !here && ok {
			return batchAxis{}, errMixes
		}
	}
	p.axis += max(more, 0)
	return p, nil
}

func gatheredAxis(c *Node) (batchAxis, error) {
	if !c.in[len(c.in)-1].isConstant() || c.in[0].isConstant() {
		return batchAxis{}, errMixes
	}
	p := c.in[0].batchAxis
	axis := c.axisOf("axis", 0)
	if axis == p.axis {
		return batchAxis{}, errMixes
	}
	if axis < p.axis {
		p.axis += len(c.in[1].c.Shape) - 1
	}
	return p, nil
}

// tuplesAxis: the batch is behind the axes of which tuples say what is taken.
func tuplesAxis(c *Node) (batchAxis, error) {
	p, index := c.in[0].batchAxis, c.in[len(c.in)-1]
	if len(c.in) != 2 || !index.isConstant() || c.in[0].isConstant() || len(index.c.Shape) == 0 {
		return batchAxis{}, errMixes
	}
	rank := len(index.c.Shape) - 1
	named := c.int("batch_dims", 0) + index.c.Shape[rank]
	if p.axis < named {
		return batchAxis{}, errMixes
	}
	p.axis += rank - named
	return p, nil
}

func concatAxis(c *Node) (batchAxis, error) {
	p, err := alignedAxis(c)
	if err != nil || slices.ContainsFunc(c.in, value.isConstant) || c.axisOf("axis", 0) == p.axis {
		return batchAxis{}, errMixes
	}
	return p, nil
}

// slicedAxis: the batch's axis may be named where all of it is taken.
func slicedAxis(c *Node) (batchAxis, error) {
	p, rank := c.in[0].batchAxis, len(c.shape(0))
	starts, _ := c.list("starts", 1)
	ends, _ := c.list("ends", 2)
	axes, named := c.list("axes", 3)
	steps, stepped := c.list("steps", 4)
	for i := range starts {
		a := i
		if named && i < len(axes) {
			a = c.foldAxis(axes[i], rank)
		}
		all := i < len(ends) && starts[i] == 0 && ends[i] >= 1<<31-1 &&
			(!stepped || i < len(steps) && steps[i] == 1)
		if a == p.axis && !all {
			return batchAxis{}, errMixes
		}
	}
	return p, nil
}

// productAxis: the batch is a leading axis of both operands, or an axis of positions of one.
func productAxis(c *Node) (batchAxis, error) {
	if len(c.in) != 2 {
		return batchAxis{}, errMixes
	}
	s, t := c.fileShapeOf(0), c.fileShapeOf(1)
	a, b := c.in[0], c.in[1]
	switch {
	case len(s) < 2 || len(t) < 1:
	case b.isConstant() && len(t) <= 2 && a.batchAxis.axis < len(s)-1:
		return a.batchAxis, nil
	case len(t) < 2:
	case b.isConstant() && a.batchAxis.axis == len(s)-2 && tensor.Count(t[:len(t)-2]) == 1:
		p := a.batchAxis
		p.axis += max(len(t)-len(s), 0)
		return p, nil
	case a.isConstant() && b.batchAxis.axis == len(t)-1 && tensor.Count(s[:len(s)-2]) == 1:
		p := b.batchAxis
		p.axis += max(len(s)-len(t), 0)
		return p, nil
	default:
		return alignedAxisTo(c, 2)
	}
	return batchAxis{}, errMixes
}

// gemmAxis: rows of the left matrix.
func gemmAxis(c *Node) (batchAxis, error) {
	for i, x := range c.in[1:] {
		s := x.c.Shape
		if !x.isConstant() || i == 1 && c.has(2) && len(s) > 1 && s[len(s)-2] != 1 {
			return batchAxis{}, errMixes
		}
	}
	p, at := c.in[0].batchAxis, 0
	if c.int("transA", 0) != 0 {
		at = 1
	}
	if p.axis != at {
		return batchAxis{}, errMixes
	}
	p.axis = 0
	return p, nil
}

// einsumAxis: one letter stands for the batch's axis in all values, in the result, and in no constant
// but as a length of 1.
func einsumAxis(c *Node) (batchAxis, error) {
	terms, result, ok := c.letters()
	if !ok {
		return batchAxis{}, errMixes
	}
	letter, p := byte(0), batchAxis{}
	for i, x := range c.in {
		if len(terms[i]) != len(c.fileShapeOf(i)) {
			return batchAxis{}, errMixes
		}
		if x.isConstant() {
			continue
		}
		here := terms[i][x.batchAxis.axis]
		if letter != 0 && (here != letter || !p.as(x.batchAxis)) {
			return batchAxis{}, errMixes
		}
		letter, p = here, x.batchAxis
	}
	for i, x := range c.in {
		if n := len(slices.DeleteFunc([]byte(terms[i]), func(b byte) bool { return b != letter })); n > 1 ||
			x.isConstant() && n > 0 {
			return batchAxis{}, errMixes
		}
	}
	if p.axis = slices.Index([]byte(result), letter); p.axis < 0 {
		return batchAxis{}, errMixes
	}
	return p, nil
}

// setAxis: the batch is behind the axes that tuples name, in the value and in what is set.
func setAxis(c *Node) (batchAxis, error) {
	if len(c.in) != 3 || c.in[0].isConstant() || !c.in[1].isConstant() || len(c.in[1].c.Shape) == 0 {
		return batchAxis{}, errMixes
	}
	p, index := c.in[0].batchAxis, c.in[1].c.Shape
	rank := len(index) - 1
	at := p.axis - index[rank] + rank // of what is set
	x, s := c.in[2], c.fileShapeOf(2)
	if p.axis < index[rank] || at >= len(s) || x.isConstant() && s[at] != 1 ||
		!x.isConstant() && (x.batchAxis.axis != at || !p.as(x.batchAxis)) {
		return batchAxis{}, errMixes
	}
	return p, nil
}

// triangleAxis: the batch is in front of the matrices.
func triangleAxis(c *Node) (batchAxis, error) {
	if p := c.in[0].batchAxis; !c.in[0].isConstant() && p.axis < len(c.shape(0))-2 {
		return p, nil
	}
	return batchAxis{}, errMixes
}
