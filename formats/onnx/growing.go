package onnx

import (
	"cmp"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// The exporter of torch.export writes as_strided as a Gather from all elements of a value, by
// computed indices: a Range over the rows times the length of a row, plus the offset of an element
// in its row. These integers grow: the integers of each row are the integers of the previous row
// plus a constant. If the constant is the number of elements in a row, a Gather by them picks the
// same offsets of every row.

var growAlone = &growth{step: growFirst}

// growPair returns the rule for an operator with two operands that grow from row to row. growthOf returns
// the growth of the result.
func growPair(growthOf func(*call) int64) *growth { return &growth{pair: true, step: growthOf} }

// growFirst returns the growth of operand 0, which is also the growth of
// the result.
func growFirst(c *call) int64 { return c.In[0].By }

func growAdd(c *call) int64 { return c.In[0].By + c.In[1].By }

func growSub(c *call) int64 { return c.In[0].By - c.In[1].By }

// growMul returns the growth of a product with a constant number.
func growMul(c *call) int64 {
	i := 0
	if c.In[0].IsGrowing() {
		i = 1
	}
	l, err := element.IntegersOf(c.In[i].Tensor)
	if err != nil || len(l) != 1 || c.In[i].IsGrowing() {
		c.Fail("%w", node.ErrLength)
		return 0
	}
	return c.Concrete(l[0]) * c.In[1-i].By
}

// checkGrowing refuses operators that cannot be computed for growing integers.
func checkGrowing(c *call, op string) error {
	g := table[op].grows
	if slices.ContainsFunc(c.In, node.Value.IsGrowing) && (g == nil || g.pair && len(c.In) != 2) {
		return node.ErrLength
	}
	return nil
}

// countsRows reports whether a node is a Range that counts to the length of the batch, or to a
// multiple of it.
func countsRows(c *call, op string) bool {
	if op != "Range" || !c.Tracked() || len(c.In) != 3 {
		return false
	}
	l, err := element.IntegersOf(c.In[1].Tensor)
	if err != nil || len(l) != 1 {
		return false
	}
	_, ok := element.TimesBatch(l[0])
	return ok
}

// countRows makes a Range from 0 to a multiple of N.
func countRows(c *call) []node.Value {
	_, from := c.Integers(0)
	_, to := c.Integers(1)
	_, by := c.Integers(2)
	if c.Err != nil || c.In[0].Tensor.Count() != 1 || c.In[2].Tensor.Count() != 1 {
		c.Fail("of %v, %v and %v is not supported, only of three numbers of one type", c.In[0].Tensor,
			c.In[1].Tensor,
			c.In[2].Tensor)
		return nil
	}
	times, _ := element.TimesBatch(to(0))
	step := c.Concrete(by(0))
	if c.Concrete(from(0)) != 0 || step < 1 || times%step != 0 {
		c.Fail("%w", node.ErrLength)
	}
	out := c.NewConstant(c.In[1].Tensor.DType, []int{int(times / max(step, 1))})
	if c.Err != nil {
		return nil
	}
	for k := range out.Count() {
		element.SetInteger(out, k, int64(k)*step)
	}
	c.Unbatched = true
	return []node.Value{node.Growing(out, times, node.BatchAxis{Axis: 0, Outer: 1, Inner: out.Count()})}
}

// makeGrowing computes the results of a node with a growing operand.
func makeGrowing(c *call, op string) []node.Value {
	if op == "Gather" {
		return gatherRows(c)
	}
	if op == "CastLike" && c.In[0].IsConstant() {
		return []node.Value{node.Constant(fold.CastTo(&c.Node, c.Required(0), c.In[1].Tensor.DType))}
	}
	p, err := batchAxisAfter(&c.Node, op)
	if err != nil {
		c.Fail("%w", err)
		return nil
	}
	by := table[op].grows.step(c)
	one := *c // a copy of the node that computes the integers of row 0
	one.In = slices.Clone(c.In)
	for i, x := range one.In {
		if x.IsGrowing() {
			one.In[i] = node.Constant(x.Tensor)
		} else if op == "Reshape" || op == "Expand" {
			one.In[i] = node.Constant(readShapeForOne(c, op))
		}
	}
	if c.Err != nil {
		return nil
	}
	out := one.fold(table[op].fold)
	if c.Err = one.Err; c.Err != nil {
		return nil
	}
	if d := out[0].Tensor.DType; (op == "Cast" || op == "CastLike") && d != tensor.I64 && d != tensor.I32 {
		c.Fail("%w", node.ErrLength)
	}
	return []node.Value{node.Growing(out[0].Tensor, by, p)}
}

// readShapeForOne returns the shape that a Reshape or an Expand makes
// for a batch of 1.
func readShapeForOne(c *call, op string) tensor.Tensor {
	l, _ := c.List("shape", 1)
	if op == "Reshape" {
		one, _, err := batchaxis.ShapeForOne(&c.Node, l)
		if err != nil {
			c.Fail("%w", err)
		}
		return tensor.Of(append([]int64{}, one...), len(one))
	}
	for i, n := range l {
		if times, ok := element.TimesBatch(n); ok {
			l[i] = times
		}
	}
	return tensor.Of(append([]int64{}, l...), len(l))
}

// findGrownIndex converts constant indices of all rows, as in a file with a fixed batch, to growing
// ones: along some axis the indices of each row are the previous row's plus the number of elements
// in a row.
func findGrownIndex(c *call, size int) (node.Value, bool) {
	t, err := c.In[1].Tensor, error(nil)
	all, err := element.IntegersOf(t)
	if err != nil || c.Batch < 2 {
		return node.Value{}, false
	}
	for axis, n := range t.Shape {
		m := n / int(c.Batch)
		if m == 0 || n%int(c.Batch) != 0 {
			continue
		}
		block := m * tensor.Count(t.Shape[axis+1:])
		of := func(k int) (row, first int) {
			row = k / block % int(c.Batch)
			return row, k - row*block
		}
		grows := true
		for k := range all {
			row, first := of(k)
			grows = grows && all[k] == all[first]+int64(row*size)
		}
		if !grows {
			continue
		}
		shape := slices.Clone(t.Shape)
		shape[axis] = m
		one := c.NewConstant(t.DType, shape)
		if c.Err != nil {
			return node.Value{}, false
		}
		to := 0
		for k := range all {
			if row, _ := of(k); row == 0 {
				element.Move(one, to, t, k)
				to++
			}
		}
		return node.Growing(one, int64(size), node.BatchAxis{Axis: axis, Outer: 1, Inner: m}), true
	}
	return node.Value{}, false
}

// takesRows reports whether a node picks elements along the axis of operand 0 that includes the
// batch, by growing indices or by constants that findGrownIndex converts.
func takesRows(c *call, op string) bool {
	if op != "Gather" || len(c.In) != 2 || c.In[0].IsConstant() || c.In[0].IsGrowing() ||
		!c.In[1].IsConstant() ||
		!c.Unbatched || !c.Tracked() || c.AxisOf("axis", 0) != c.In[0].BatchAxis.Axis || c.Err != nil {
		return false
	}
	x, ok := findGrownIndex(c, c.In[0].BatchAxis.Inner)
	if ok {
		c.In[1] = x
	}
	return ok
}

// gatherRows reads a Gather that picks elements at the same offsets of every row.
func gatherRows(c *call) []node.Value {
	p, index := c.In[0].BatchAxis, c.In[1]
	if c.In[0].IsConstant() || c.In[0].IsGrowing() || !index.IsGrowing() || c.AxisOf("axis", 0) != p.Axis ||
		p.Outer != 1 || index.By != int64(p.Inner) {
		c.Fail("%w", cmp.Or(c.Err, node.ErrLength))
		return nil
	}
	all, err := element.IntegersOf(index.Tensor)
	if err != nil || len(all) == 0 || slices.Min(all) < 0 || slices.Max(all) >= int64(p.Inner) {
		c.Fail("takes elements of other rows of the batch")
		return nil
	}
	at := make([]int, len(all))
	for k, n := range all {
		at[k] = int(n)
	}
	v := pickView(c, c.Dynamic(0), p.Axis, at, index.Tensor.Shape)
	x, to := c.In[0], index.BatchAxis
	to.Axis += p.Axis
	out := []node.Value{{V: v, Logits: graph.None, Elements: x.Elements, Kind: x.Kind, Within: x.Within}}
	c.resolveBatch(out, to)
	return out
}

// pickView picks elements of an axis at the given offsets, and replaces the axis by the axes of shape. If
// the offset is an affine function of the position in shape, this needs only a reshape, a slice and a
// transposition.
func pickView(c *call, x graph.Value, axis int, offsets, shape []int) graph.Value {
	if c.Err != nil {
		return graph.None
	}
	s := c.g.Type(x).Shape
	to := slices.Concat(s[:axis], shape, s[axis+1:])
	if steps, ok := stepsOf(offsets, shape); ok {
		if d, ok := digitsOf(s[axis], offsets[0], steps, shape); ok && len(s)+len(d.radix) < tensor.MaxRank {
			return c.node(graph.Reshape, "", []graph.Value{pickDigits(c, x, axis, d)}, "shape", to)
		}
	}
	if len(offsets) > maxIndices {
		c.Fail("of more than %d elements is not supported", maxIndices)
	}
	return c.node(graph.Reshape, "", []graph.Value{c.gatherAxis(x, axis, offsets, ".taken")}, "shape", to)
}

// stepsOf returns the distance between neighbouring offsets along each axis of their shape, 0 for
// an axis of length 1.
func stepsOf(offsets, shape []int) (steps []int, ok bool) {
	steps, ok = make([]int, len(shape)), true
	for a, n := range element.Strides(shape) {
		if shape[a] > 1 {
			steps[a] = offsets[n] - offsets[0]
		}
	}
	element.Each(shape, func(k int, index []int) {
		want := offsets[0]
		for a, i := range index {
			want += i * steps[a]
		}
		ok = ok && offsets[k] == want
	})
	return steps, ok
}

// digits describes a selection of the elements of an axis. Their offsets are numbers in mixed
// radices. The selection has a range of values for each digit, and a new order of the digits.
type digits struct {
	radix, begin, end []int
	order             []int // the selected digits, in the order of the axes of the result
}

// digitsOf describes a selection from an axis of n elements by the digits of its offsets.
// The first selected offset is first, and steps has the distance of neighbouring offsets
// along each axis of shape. ok is false if the selection does not have a range of values
// for each digit.
func digitsOf(n, first int, steps, shape []int) (d digits, ok bool) {
	var axes []int
	for a, m := range shape {
		if m > 1 {
			axes = append(axes, a)
		}
	}
	order := slices.Clone(axes)
	slices.SortStableFunc(order, func(a, b int) int { return steps[b] - steps[a] })
	for _, a := range order {
		if steps[a] < 1 || n%steps[a] != 0 {
			return d, false
		}
		d.radix = append(d.radix, n/steps[a])
		d.begin = append(d.begin, first/steps[a])
		d.end = append(d.end, first/steps[a]+shape[a])
		n, first = steps[a], first%steps[a]
	}
	d.radix, d.begin, d.end = append(d.radix, n), append(d.begin, first), append(d.end, first+1)
	for i := range d.radix {
		if d.end[i] > d.radix[i] {
			return d, false
		}
	}
	for _, a := range axes {
		d.order = append(d.order, slices.Index(order, a))
	}
	return d, true
}

// pickDigits picks the selection d from an axis.
func pickDigits(c *call, x graph.Value, axis int, d digits) graph.Value {
	s := c.g.Type(x).Shape
	whole := slices.Concat(s[:axis], d.radix, s[axis+1:])
	x = c.node(graph.Reshape, ".digits", []graph.Value{x}, "shape", whole)
	if begin := make([]int, len(whole)); slices.Max(d.begin) > 0 || !slices.Equal(d.end, d.radix) {
		end := slices.Concat(s[:axis], d.end, s[axis+1:])
		copy(begin[axis:], d.begin)
		x = c.node(graph.Slice, ".part", []graph.Value{x}, "begin", begin, "end", end)
	}
	if slices.IsSorted(d.order) || c.Err != nil {
		return x
	}
	perm := element.Indices(len(whole))
	for i, o := range d.order {
		perm[axis+i] = axis + o
	}
	return c.node(graph.Transpose, ".turned", []graph.Value{x}, "perm", perm)
}
