package onnx

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

// shapeForOne returns the target shape of a Reshape of a value with a batchAxis for N = 1, and which of its axes
// has N in it: the one that the file computed from N or copies, or else -1.
func shapeForOne(c *Node, target []int64) (one []int64, axis int, err error) {
	one, axis = slices.Clone(target), -1
	zero, s := c.int("allowzero", 0) != 0, c.shape(0)
	for i, n := range target {
		times, ok := element.TimesBatch(n)
		copied := n == 0 && !zero && i == c.in[0].batchAxis.axis
		if ok {
			one[i] = times
		} else if copied && i < len(s) {
			one[i] = int64(s[i])
		}
		if !ok && !copied {
			continue
		}
		if axis >= 0 {
			return nil, 0, errMixes
		}
		axis = i
	}
	if axis < 0 && c.batch > 1 {
		return shapeForFixed(c, target)
	}
	if axis < 0 {
		axis = slices.Index(one, -1)
	}
	if axis < 0 {
		err = errMixes
	}
	return one, axis, err
}

// shapeForFixed is forOne of a target that has the length of a fixed batch in one of its numbers: in that of the
// axis along which an element of the next row lies.
func shapeForFixed(c *Node, target []int64) (one []int64, axis int, err error) {
	p, from := c.in[0].batchAxis, slices.Clone(c.shape(0))
	next := p.inner * tensor.Count(from[p.axis+1:])
	from[p.axis] *= int(c.batch)
	full, err := resolve(target, from, c.int("allowzero", 0) != 0)
	if err != nil {
		return nil, 0, err
	}
	behind := 1
	for axis, n := range slices.Backward(full) {
		if next < behind*n && n%int(c.batch) == 0 {
			full[axis] /= int(c.batch)
			return element.Widened(full), axis, nil
		} else if next < behind*n {
			break
		}
		behind *= n
	}
	return nil, 0, fmt.Errorf("to %s mixes the rows of the batch", element.Printed(target))
}

// reshapedAxis: N keeps what is in front of it and behind it.
func reshapedAxis(c *Node) (batchAxis, error) {
	target, ok := c.list("shape", 1)
	if !ok || c.err != nil {
		return batchAxis{}, errMixes
	}
	p, from := c.in[0].batchAxis, c.shape(0)
	one, axis, err := shapeForOne(c, target)
	if err != nil {
		return batchAxis{}, err
	}
	to, err := resolve(one, from, c.int("allowzero", 0) != 0)
	if err != nil {
		return batchAxis{}, err
	}
	return batchAxisIn(c, to, axis, p, from)
}

// batchAxisIn is where the batch of a shape is in another shape of as many elements, at an axis.
func batchAxisIn(c *Node, to []int, axis int, p batchAxis, from []int) (batchAxis, error) {
	inner, behind := p.inner*tensor.Count(from[p.axis+1:]), tensor.Count(to[axis+1:])
	if behind == 0 || inner%behind != 0 || inner == 0 || to[axis]%(inner/behind) != 0 {
		return batchAxis{}, fmt.Errorf("to %v mixes the rows of the batch", to)
	}
	inner /= behind
	return batchAxis{axis, to[axis] / inner, inner}, nil
}

func flattenedAxis(c *Node) (batchAxis, error) {
	p, from, axis := c.in[0].batchAxis, c.shape(0), c.int("axis", 1)
	if axis < 0 {
		axis += len(from)
	}
	if axis < 0 || axis > len(from) {
		return batchAxis{}, errMixes
	}
	to := []int{tensor.Count(from[:axis]), tensor.Count(from[axis:])}
	at := 0
	if p.axis >= axis {
		at = 1
	}
	return batchAxisIn(c, to, at, p, from)
}

// expandsToBatch reports whether a node makes a constant that is as long as the batch along some axis.
func (c *call) expandsToBatch(op string) bool {
	if !c.tracked() || c.rowsInput == graph.None {
		return false
	}
	i := 0
	switch op {
	case "Expand":
		i = 1
	case "ConstantOfShape":
	default:
		return false
	}
	return i < len(c.in) && c.in[i].hasLength()
}

// expandToBatch makes such a constant: the same numbers in every row.
func (c *call) expandToBatch() []value {
	t, p, shape := c.alongBatch()
	if c.err == nil && !element.IsFloat(t.DType) {
		c.fail("%w", errLength)
	}
	t = c.toF32(t)
	if c.err != nil {
		return nil
	}
	v := c.everyRow(c.rowsInput, c.declare(c.n.Output[0], graph.Constant, t), shape)
	c.unbatched = true
	out := []value{rows(v)}
	c.resolveBatch(out, p)
	return out
}

// repeatsIntegers reports whether a node makes integers that are the same in every row.
func (c *call) repeatsIntegers(op string) bool {
	return op == "Expand" && c.expandsToBatch(op) && c.in[0].c.DType == tensor.I64
}

// repeatIntegers makes them: they grow by nothing.
func (c *call) repeatIntegers() []value {
	t, p, shape := c.alongBatch()
	if c.err != nil {
		return nil
	}
	if l, _ := element.IntegersOf(t); slices.ContainsFunc(l, func(n int64) bool {
		_,
			ok := element.TimesBatch(n)
		return ok
	}) {
		c.fail("%w", errLength)
		return nil
	}
	c.unbatched = true
	return []value{growing(c.gathered(t, shape, element.BroadcastIndex(t.Shape, len(shape))), 0, p)}
}

// alongBatch is batchShape with the shape to which the constant broadcasts for N = 1.
func (c *call) alongBatch() (t tensor.Tensor, p batchAxis, shape []int) {
	t, p, to := c.batchShape()
	if c.err != nil {
		return t, p, nil
	}
	shape, err := graph.Broadcast(t.Shape, to)
	at := p.axis - (len(to) - len(t.Shape))
	if err != nil || at >= 0 && t.Shape[at] != 1 {
		c.fail("of %v to %v", t, to)
	}
	p.axis += len(shape) - len(to)
	return t, p, shape
}

// batchShape returns the constant that an Expand or a ConstantOfShape repeats along the batch, which
// axis of the result that is, and the shape for N = 1.
func (c *call) batchShape() (t tensor.Tensor, p batchAxis, to []int) {
	var l []int64
	if c.n.OpType == "Expand" {
		t = c.required(0)
		l, _ = c.list("shape", 1)
	} else {
		l, _ = element.IntegersOf(c.required(0))
		t = readFillingNumber(&c.Node)
	}
	p = batchAxis{-1, 1, 1}
	for i, n := range l {
		if times, ok := element.TimesBatch(n); ok {
			if n = times; times != 1 || p.axis >= 0 {
				c.fail("%w", errLength)
			}
			p.axis = i
		}
		to = append(to, int(min(max(n, 0), 1<<30)))
	}
	return t, p, to
}
