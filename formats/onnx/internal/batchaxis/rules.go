package batchaxis

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/tensor"
)

// Rule returns the batch axis in the results of a node with operands that have the batch on any
// axis. It returns ErrMixes if the node mixes the rows of the batch.
type Rule func(*node.Node) (node.BatchAxis, error)

// Same is the rule for elementwise operators of one operand.
func Same(c *node.Node) (node.BatchAxis, error) { return c.In[0].BatchAxis, nil }

// The rules of operators.

// Aligned is the rule for operands that broadcast, aligned at their last axes. All values must have the
// batch at the same axis, and constants must have length 1 there.
func Aligned(c *node.Node) (node.BatchAxis, error) { return alignedAxisTo(c, 0) }

// alignedAxisTo is like Aligned, except that the last fixedAxes axes do not broadcast. The batch must be in
// front of them.
func alignedAxisTo(c *node.Node, fixedAxes int) (node.BatchAxis, error) {
	rank, end, found := 0, 0, node.BatchAxis{}
	for i, x := range c.In {
		s := c.FileShapeOf(i)
		rank = max(rank, len(s))
		if x.IsConstant() {
			continue
		}
		at := len(s) - x.BatchAxis.Axis
		if at <= fixedAxes || end != 0 && (end != at || !found.As(x.BatchAxis)) {
			return node.BatchAxis{}, node.ErrMixes
		}
		end, found = at, x.BatchAxis
	}
	for i, x := range c.In {
		if s := c.FileShapeOf(i); c.Has(i) && x.IsConstant() && len(s) >= end && s[len(s)-end] != 1 {
			return node.BatchAxis{}, node.ErrMixes
		}
	}
	found.Axis = rank - end
	return found, nil
}

// AlongOther is the rule for an operator that works along an axis other than the batch's.
func AlongOther(c *node.Node) (node.BatchAxis, error) {
	def := 0
	if c.Proto.OpType == "LpNormalization" {
		def = -1
	}
	if p := c.In[0].BatchAxis; c.AxisOf("axis", def) != p.Axis {
		return p, nil
	}
	return node.BatchAxis{}, node.ErrMixes
}

// Quantised is the rule for quantisation. If there is a scale for each index of an axis, this must not
// be the batch axis.
func Quantised(c *node.Node) (node.BatchAxis, error) {
	if p := c.In[0].BatchAxis; !c.ScalesAxis() || c.AxisOf("axis", 1) != p.Axis {
		return p, nil
	}
	return node.BatchAxis{}, node.ErrMixes
}

// Softmax is the rule for Softmax. Up to operator set 12 all axes from the given one on count as one.
func Softmax(c *node.Node) (node.BatchAxis, error) {
	if c.Opset >= 13 {
		if p := c.In[0].BatchAxis; c.AxisOf("axis", -1) != p.Axis {
			return p, nil
		}
	} else if p := c.In[0].BatchAxis; c.AxisOf("axis", 1) > p.Axis {
		return p, nil
	}
	return node.BatchAxis{}, node.ErrMixes
}

// LayerNorm is the rule for LayerNormalization: the batch must be in front of the axes
// that are normalised.
func LayerNorm(c *node.Node) (node.BatchAxis, error) {
	p := c.In[0].BatchAxis
	for i := 1; i < len(c.In); i++ {
		if !c.In[i].IsConstant() || c.Has(i) && tensor.Count(c.In[i].Tensor.Shape) != tensor.Count(
			c.Shape(0)[c.AxisOf("axis", -1):]) {
			return node.BatchAxis{}, node.ErrMixes
		}
	}
	if c.AxisOf("axis", -1) > p.Axis {
		return p, nil
	}
	return node.BatchAxis{}, node.ErrMixes
}

// Reduced is the rule for reductions: the batch axis must not be reduced.
func Reduced(c *node.Node) (node.BatchAxis, error) {
	p, rank := c.In[0].BatchAxis, len(c.Shape(0))
	axes, ok := c.List("axes", 1)
	if !ok || len(axes) == 0 {
		if c.Int("noop_with_empty_axes", 0) != 0 {
			return p, nil
		}
		return node.BatchAxis{}, node.ErrMixes
	}
	gone := make([]bool, rank)
	for _, a := range axes {
		gone[c.FoldAxis(a, rank)] = true
	}
	if c.Err != nil || gone[p.Axis] {
		return node.BatchAxis{}, node.ErrMixes
	}
	if c.Int("keepdims", 1) == 0 {
		p.Axis -= count(gone[:p.Axis])
	}
	return p, nil
}

// count returns the number of true elements of l.
func count(l []bool) (n int) {
	for _, yes := range l {
		if yes {
			n++
		}
	}
	return n
}

// Transposed is the rule of Transpose.
func Transposed(c *node.Node) (node.BatchAxis, error) {
	p := c.In[0].BatchAxis
	p.Axis = slices.Index(c.Permutation(len(c.Shape(0))), p.Axis)
	return p, nil
}

// Unsqueezed is the rule of Unsqueeze.
func Unsqueezed(c *node.Node) (node.BatchAxis, error) {
	p := c.In[0].BatchAxis
	axes, _ := c.List("axes", 1)
	rank := len(c.Shape(0)) + len(axes)
	isNew := make([]bool, rank)
	for _, a := range axes {
		isNew[c.FoldAxis(a, rank)] = true
	}
	if c.Err != nil || count(isNew) != len(axes) {
		return node.BatchAxis{}, node.ErrMixes
	}
	old := -1
	for a, yes := range isNew {
		if !yes {
			old++
		}
		if old == p.Axis {
			p.Axis = a
			break
		}
	}
	return p, nil
}

// Squeezed is the rule for Squeeze: the batch axis must stay.
func Squeezed(c *node.Node) (node.BatchAxis, error) {
	p := c.In[0].BatchAxis
	axes, given := c.Squeezed()
	if !given {
		return node.BatchAxis{}, node.ErrMixes
	}
	drop := c.Dropped(c.Shape(0), axes, given)
	if c.Err != nil || drop[p.Axis] {
		return node.BatchAxis{}, node.ErrMixes
	}
	p.Axis -= count(drop[:p.Axis])
	return p, nil
}

// Expanded is the rule for Expand: the new length at the batch's axis must be 1, or
// unchanged.
func Expanded(c *node.Node) (node.BatchAxis, error) {
	p, s := c.In[0].BatchAxis, c.Shape(0)
	l, _ := c.List("shape", 1)
	more := len(l) - len(s)
	for i, n := range l {
		times, ok := element.TimesBatch(n)
		here := i == p.Axis+more
		if here && n != 1 && times != int64(p.Outer*p.Inner) || !here && ok {
			return node.BatchAxis{}, node.ErrMixes
		}
	}
	p.Axis += max(more, 0)
	return p, nil
}

// Gathered is the rule for Gather. The indices must not be along the batch axis. A lookup in a constant
// table has the batch axis of its indices.
func Gathered(c *node.Node) (node.BatchAxis, error) {
	if c.In[0].IsConstant() && !c.In[len(c.In)-1].IsConstant() && c.Int("axis", 0) == 0 {
		return c.In[1].BatchAxis, nil
	}
	if !c.In[len(c.In)-1].IsConstant() || c.In[0].IsConstant() {
		return node.BatchAxis{}, node.ErrMixes
	}
	p := c.In[0].BatchAxis
	axis := c.AxisOf("axis", 0)
	if axis == p.Axis {
		return node.BatchAxis{}, node.ErrMixes
	}
	if axis < p.Axis {
		p.Axis += len(c.In[1].Tensor.Shape) - 1
	}
	return p, nil
}

// Tuples is the rule for indices given as tuples: the batch must follow the axes that they
// index.
func Tuples(c *node.Node) (node.BatchAxis, error) {
	p, index := c.In[0].BatchAxis, c.In[len(c.In)-1]
	if len(c.In) != 2 || !index.IsConstant() || c.In[0].IsConstant() || len(index.Tensor.Shape) == 0 {
		return node.BatchAxis{}, node.ErrMixes
	}
	rank := len(index.Tensor.Shape) - 1
	named := c.Int("batch_dims", 0) + index.Tensor.Shape[rank]
	if p.Axis < named {
		return node.BatchAxis{}, node.ErrMixes
	}
	p.Axis += rank - named
	return p, nil
}

// Concat is the rule for Concat: the batch axis must not be the joined axis.
func Concat(c *node.Node) (node.BatchAxis, error) {
	p, err := Aligned(c)
	if err != nil || slices.ContainsFunc(c.In, node.Value.IsConstant) || c.AxisOf("axis", 0) == p.Axis {
		return node.BatchAxis{}, node.ErrMixes
	}
	return p, nil
}

// Sliced is the rule for Slice. A Slice may name the batch axis only if it keeps all of
// that axis.
func Sliced(c *node.Node) (node.BatchAxis, error) {
	p, rank := c.In[0].BatchAxis, len(c.Shape(0))
	starts, _ := c.List("starts", 1)
	ends, _ := c.List("ends", 2)
	axes, named := c.List("axes", 3)
	steps, stepped := c.List("steps", 4)
	for i := range starts {
		a := i
		if named && i < len(axes) {
			a = c.FoldAxis(axes[i], rank)
		}
		all := i < len(ends) && starts[i] == 0 && ends[i] >= 1<<31-1 &&
			(!stepped || i < len(steps) && steps[i] == 1)
		if a == p.Axis && !all {
			return node.BatchAxis{}, node.ErrMixes
		}
	}
	return p, nil
}

// Product is the rule for MatMul. The batch must be an axis before the matrices in both operands,
// or an axis of one operand that is not summed.
func Product(c *node.Node) (node.BatchAxis, error) {
	if len(c.In) != 2 {
		return node.BatchAxis{}, node.ErrMixes
	}
	s, t := c.FileShapeOf(0), c.FileShapeOf(1)
	a, b := c.In[0], c.In[1]
	switch {
	case len(s) < 2 || len(t) < 1:
	case b.IsConstant() && len(t) <= 2 && a.BatchAxis.Axis < len(s)-1:
		return a.BatchAxis, nil
	case len(t) < 2:
	case b.IsConstant() && a.BatchAxis.Axis == len(s)-2 && tensor.Count(t[:len(t)-2]) == 1:
		p := a.BatchAxis
		p.Axis += max(len(t)-len(s), 0)
		return p, nil
	case a.IsConstant() && b.BatchAxis.Axis == len(t)-1 && tensor.Count(s[:len(s)-2]) == 1:
		p := b.BatchAxis
		p.Axis += max(len(s)-len(t), 0)
		return p, nil
	default:
		return alignedAxisTo(c, 2)
	}
	return node.BatchAxis{}, node.ErrMixes
}

// Gemm is the rule for Gemm: the batch must be the rows of the left matrix.
func Gemm(c *node.Node) (node.BatchAxis, error) {
	for i, x := range c.In[1:] {
		s := x.Tensor.Shape
		if !x.IsConstant() || i == 1 && c.Has(2) && len(s) > 1 && s[len(s)-2] != 1 {
			return node.BatchAxis{}, node.ErrMixes
		}
	}
	p, at := c.In[0].BatchAxis, 0
	if c.Int("transA", 0) != 0 {
		at = 1
	}
	if p.Axis != at {
		return node.BatchAxis{}, node.ErrMixes
	}
	p.Axis = 0
	return p, nil
}

// Einsum is the rule for Einsum. One letter must denote the batch axis in all values and in the result,
// and it must not occur in a constant.
func Einsum(c *node.Node) (node.BatchAxis, error) {
	terms, result, ok := c.Letters()
	if !ok {
		return node.BatchAxis{}, node.ErrMixes
	}
	letter, p := byte(0), node.BatchAxis{}
	for i, x := range c.In {
		if len(terms[i]) != len(c.FileShapeOf(i)) {
			return node.BatchAxis{}, node.ErrMixes
		}
		if x.IsConstant() {
			continue
		}
		here := terms[i][x.BatchAxis.Axis]
		if letter != 0 && (here != letter || !p.As(x.BatchAxis)) {
			return node.BatchAxis{}, node.ErrMixes
		}
		letter, p = here, x.BatchAxis
	}
	for i, x := range c.In {
		if n := len(slices.DeleteFunc([]byte(terms[i]), func(b byte) bool { return b != letter })); n > 1 ||
			x.IsConstant() && n > 0 {
			return node.BatchAxis{}, node.ErrMixes
		}
	}
	if p.Axis = slices.Index([]byte(result), letter); p.Axis < 0 {
		return node.BatchAxis{}, node.ErrMixes
	}
	return p, nil
}

// Set is the rule for operators that set blocks of elements at tuples of indices. The batch must
// follow the axes that the tuples index, in the value and in the blocks.
func Set(c *node.Node) (node.BatchAxis, error) {
	if len(c.In) != 3 || c.In[0].IsConstant() || !c.In[1].IsConstant() || len(c.In[1].Tensor.Shape) == 0 {
		return node.BatchAxis{}, node.ErrMixes
	}
	p, index := c.In[0].BatchAxis, c.In[1].Tensor.Shape
	rank := len(index) - 1
	at := p.Axis - index[rank] + rank // axis in the blocks
	x, s := c.In[2], c.FileShapeOf(2)
	if p.Axis < index[rank] || at >= len(s) || x.IsConstant() && s[at] != 1 ||
		!x.IsConstant() && (x.BatchAxis.Axis != at || !p.As(x.BatchAxis)) {
		return node.BatchAxis{}, node.ErrMixes
	}
	return p, nil
}

// Triangle is the rule for Trilu: the batch must be in front of the matrices.
func Triangle(c *node.Node) (node.BatchAxis, error) {
	if p := c.In[0].BatchAxis; !c.In[0].IsConstant() && p.Axis < len(c.Shape(0))-2 {
		return p, nil
	}
	return node.BatchAxis{}, node.ErrMixes
}
