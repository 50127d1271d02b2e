package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"OneHot": {attributes: accept(3, "axis"), refused: "depth and values that are not constant",
			make: oneHots, fold: fold.One(fold.OneHot), integers: tellApart},
		// sorted=0 permits any order
		"TopK": {attributes: accept(2, "axis k largest", "sorted"),
			refused: "k that is not constant, or above 256", make: topK, fold: fold.TopK, traits: hasSettings},
		"NonMaxSuppression": {attributes: accept(5, "center_point_box"),
			fold: fold.One(fold.NonMaxSuppression), traits: hasSettings},
		"ArgMin": {attributes: accept(1, "axis keepdims select_last_index"), make: argExtreme,
			fold: fold.One(fold.Arg)},
		"Compress": {attributes: accept(2, "axis"), refused: "a condition that is not constant",
			make: oneResult(compress), integers: moveNumbers | keepBounds},
	})
}

// These operators return indices of elements. They are integers in the file, and f32 in the graph. Of
// equal elements, the one with the least index is chosen.

const maxPicks = 256 // elements that a TopK picks, at most

// positions declares the numbers 0, 1, 2 ... along one axis, in a form that broadcasts to a shape.
func (c *call) positions(shape []int, axis int) graph.Value {
	n := shape[axis]
	if n >= node.MaxPlaces || n < 1 {
		c.Fail("along an axis of %d", n)
		return graph.None
	}
	at := slices.Repeat([]int{1}, len(shape))
	at[axis] = n
	key := fmt.Sprint(at)
	if v, ok := c.placed[key]; ok {
		return v
	}
	t := c.NewConstant(tensor.F32, at)
	for i := 0; i < n && c.Err == nil; i++ {
		t.F32()[i] = float32(i)
	}
	v := c.declare("places", graph.Constant, t)
	if c.Err == nil {
		c.placed[key] = v
	}
	return v
}

// findPosition returns the largest or smallest value along an axis of x, and the index of the
// first element that has this value, or of the last one if last is set. It ignores the elements
// that taken marks.
func findPosition(c *call, suffix string, x, taken graph.Value, axis int, smallest, last bool) (position,
	extreme graph.Value) {
	shape := c.g.Type(x).Shape
	reduce, worse, none := graph.ReduceMax, "less", math.Inf(-1)
	if smallest {
		reduce, worse, none = graph.ReduceMin, "greater", math.Inf(1)
	}
	among := x
	if taken != graph.None {
		among = c.node(graph.Where, ".among", []graph.Value{taken, c.number("none", none), x})
	}
	extreme = c.node(reduce, ".extreme", []graph.Value{among}, "axes", []int{axis}, "keep", true)
	passed := c.compare(".passed", worse, among, extreme)
	if taken != graph.None {
		passed = c.node(graph.Max, ".passed", []graph.Value{passed, taken})
	}
	if c.Err != nil {
		return graph.None, graph.None
	}
	nowhere, first := float64(shape[axis]), graph.ReduceMin
	if last {
		nowhere, first = -1, graph.ReduceMax
	}
	all := c.positions(shape, axis)
	at := c.node(graph.Where, ".at", []graph.Value{passed, c.number("nowhere", nowhere), all})
	return c.node(first, suffix, []graph.Value{at}, "axes", []int{axis}, "keep", true), extreme
}

// argExtreme reads ArgMin, and each ArgMax that does more than choose the class for an output.
func argExtreme(c *call) []node.Value {
	x, s := c.Dynamic(0), c.Shape(0)
	axis := c.Axis(int64(c.Int("axis", 0)), len(s))
	if c.Err != nil {
		return nil
	}
	return makeArg(c, x, axis, c.Int("keepdims", 1) != 0)
}

func makeArg(c *call, x graph.Value, axis int, keep bool) []node.Value {
	s := c.g.Type(x).Shape
	last := c.Int("select_last_index", 0) != 0
	v, _ := findPosition(c, ".place", x, graph.None, axis, c.Proto.OpType == "ArgMin", last)
	shape := slices.Clone(s)
	if shape[axis] = 1; !keep {
		shape = slices.Delete(shape, axis, axis+1)
	}
	out := c.integerRows(c.node(graph.Reshape, "", []graph.Value{v}, "shape", shape))
	out[0].Within = &node.Extent{Least: 0, Most: float64(s[axis] - 1)}
	return out
}

// integerRows marks values that are integers in the file.
func (c *call) integerRows(v ...graph.Value) []node.Value {
	var out []node.Value
	for _, v := range v {
		x := node.Rows(v)
		x.Elements = node.Integers
		out = append(out, x)
	}
	return out
}

// topK picks the k largest or smallest elements, one after the other. Of equal
// elements it picks the first.
func topK(c *call) []node.Value {
	x, s := c.Dynamic(0), c.Shape(0)
	l, _ := c.List("k", 1)
	if c.Attribute("k") != nil { // up to operator set 9
		l = []int64{int64(c.Int("k", 0))}
	}
	axis := c.Axis(int64(c.Int("axis", -1)), len(s))
	if c.Err == nil && len(l) == 1 && l[0] > maxPicks && l[0] <= int64(s[axis]) {
		c.reader.manyPicks = append(c.reader.manyPicks, c.Proto.Output[0])
	}
	if c.Err == nil && (len(l) != 1 || l[0] < 1 || l[0] > int64(min(s[axis], maxPicks))) {
		c.Fail("of %v elements of an axis of %d is not supported, only of 1 to %d", l, s[axis],
			min(s[axis], maxPicks))
	}
	if c.Err != nil {
		return nil
	}
	least := c.Int("largest", 1) == 0
	var positions, values []graph.Value
	taken := graph.None
	for i := range l[0] {
		position, extreme := findPosition(c, ".place", x, taken, axis, least, false)
		positions, values = append(positions, position), append(values, extreme)
		if c.Err != nil || i == l[0]-1 {
			break
		}
		here := c.compare(".here", "equal", c.positions(s, axis), position)
		if taken != graph.None {
			here = c.node(graph.Max, ".taken", []graph.Value{here, taken})
		}
		taken = here
	}
	joined := func(suffix string, operands []graph.Value) graph.Value {
		if len(operands) == 1 {
			return operands[0]
		}
		return c.joined(suffix, operands, axis)
	}
	out := append([]node.Value{node.Rows(joined("", values))}, c.integerRows(joined(".places", positions))...)
	out[1].Within = &node.Extent{Least: 0, Most: float64(s[axis] - 1)}
	return out
}

// oneHots is like oneHot but with the type of operand 2 for the result.
func oneHots(c *call) []node.Value {
	out := node.Rows(oneHot(c))
	if c.Err == nil {
		switch d := c.In[2].Tensor.DType; {
		case d == tensor.Bool:
			out.Elements = node.Truths
		case !element.IsFloat(d):
			out.Elements = node.Integers
		}
	}
	return []node.Value{out}
}

// oneHot compares each number with the indices of a new axis. Negative numbers count from
// the end of the axis.
func oneHot(c *call) graph.Value {
	s := c.Shape(0)
	depth, ok := c.Scalar("", 1)
	values, given := c.Constant(2)
	if c.Err == nil && (!ok || !given || values.Count() != 2 || depth < 1 || depth > maxIndices) {
		c.Fail("of depth %v and values %v is not supported", depth, values)
	}
	axis := int64(c.Int("axis", -1))
	if axis < 0 {
		axis += int64(c.Rank(0)) + 1
	}
	at := c.Axis(axis, len(s)+1)
	if c.Err != nil {
		return graph.None
	}
	shape := slices.Insert(slices.Clone(s), at, 1)
	x := c.node(graph.Reshape, ".axes", []graph.Value{c.Dynamic(0)}, "shape", shape)
	shape[at] = int(depth)
	behind := c.node(graph.Affine, ".behind", []graph.Value{x}, "add", depth)
	negative := c.compare(".negative", "less", x, c.number("zero", 0))
	x = c.node(graph.Where, ".from_start", []graph.Value{negative, behind, x})
	here := c.compare(".here", "equal", c.positions(shape, at), x)
	two := c.ToF32(values)
	if c.Err != nil {
		return graph.None
	}
	return c.node(graph.Where, "", []graph.Value{here, c.number("on", float64(two.F32()[1])),
		c.number("off", float64(two.F32()[0]))})
}

// compress picks the indices that a constant marks, along an axis or among all elements in
// order.
func compress(c *call) graph.Value {
	marks, ok := c.Constant(1)
	if !ok || marks.DType != tensor.Bool {
		c.Fail("operand 1 is %v, want truth values", marks)
	}
	x, s := c.Dynamic(0), c.Shape(0)
	axis := 0
	if c.Attribute("axis") != nil {
		axis = c.Axis(int64(c.Int("axis", 0)), len(s))
	} else if !c.Unbatched {
		c.FailAcrossBatch("without an axis works along the batch axis")
	} else {
		s = []int{tensor.Count(s)}
		x = c.node(graph.Reshape, ".flat", []graph.Value{x}, "shape", s)
	}
	var at []int
	for i := 0; i < marks.Count() && c.Err == nil; i++ {
		if marks.Bytes[i] != 0 {
			at = append(at, i)
		}
	}
	if c.Err == nil && (len(s) == 0 || len(at) > 0 && at[len(at)-1] >= s[axis]) {
		c.Fail("takes places %v of axis %d of %v", at, axis, s)
	}
	return c.gatherAxis(x, axis, at, "")
}
