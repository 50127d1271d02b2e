package fold

import (
	"cmp"
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/tensor"
)

// reduction combines the numbers along axes to one number, starting from a first value. At the end it
// applies a function of this number and their count.
type reduction struct {
	first   float64
	add     func(acc, v float64) float64
	end     func(acc float64, n int) float64
	empty   bool              // the reduction is defined for an empty list
	integer *integerReduction // nil if it is undefined for integers
}

func same64(acc float64, _ int) float64 { return acc }

func addSquare(acc, v float64) float64 { return acc + float64(v*v) }

// The reductions of ONNX.
var (
	ReduceSum = reduce(reduction{0, plus, same64, true,
		ofIntegers(0, addIntegers)})
	ReduceMean = reduce(reduction{0, plus, func(acc float64, n int) float64 { return acc / float64(n) }, false,
		nil})
	ReduceProd = reduce(reduction{1, times, same64, true,
		ofIntegers(1, multiplyIntegers)})
	ReduceMax = reduce(reduction{math.Inf(-1), larger, same64, false,
		ofIntegers(math.MinInt64, largerInteger)})
	ReduceMin = reduce(reduction{math.Inf(1), smaller, same64, false,
		ofIntegers(math.MaxInt64, smallerInteger)})
	ReduceL1 = reduce(reduction{0, func(acc, v float64) float64 { return acc + math.Abs(v) }, same64, true,
		ofIntegers(0, func(c *node.Node, acc, v int64) int64 {
			v = c.Concrete(v)
			return acc + max(v, -v)
		})})
	ReduceL2 = reduce(reduction{0, addSquare, func(acc float64, _ int) float64 { return math.Sqrt(acc) }, true,
		nil})
	ReduceSumSquare = reduce(reduction{0, addSquare, same64, true,
		ofIntegers(0, func(c *node.Node, acc, v int64) int64 {
			v = c.Concrete(v)
			return acc + v*v
		})})
	ReduceLogSum = reduce(reduction{0, plus, func(acc float64, _ int) float64 { return tensor.Log(acc) }, false,
		nil})
)

// integerReduction combines integers exactly.
type integerReduction struct {
	first int64
	add   func(c *node.Node, acc, v int64) int64
}

func ofIntegers(first int64, add func(c *node.Node, acc, v int64) int64) *integerReduction {
	return &integerReduction{first, add}
}

func reduce(f reduction) Func {
	return One(func(c *node.Node) tensor.Tensor { return foldReduce(c, f) })
}

// readFoldedAxes returns the axes of a constant that an operator reduces.
func readFoldedAxes(c *node.Node, rank int) []bool {
	axes, ok := c.List("axes", 1)
	gone := make([]bool, rank)
	if !ok || len(axes) == 0 {
		all := c.Int("noop_with_empty_axes", 0) == 0
		for a := range gone {
			gone[a] = all
		}
		return gone
	}
	for _, a := range axes {
		if at := c.FoldAxis(a, rank); c.Err == nil {
			gone[at] = true
		}
	}
	return gone
}

// reduceShapes returns the shape in which reduced axes have length 1, and the shape of the result,
// which depends on keepdims.
func reduceShapes(c *node.Node, shape []int, reducedAxes []bool) (ones, reduced []int) {
	ones = slices.Clone(shape)
	for a, n := range shape {
		if reducedAxes[a] {
			ones[a] = 1
		}
		if !reducedAxes[a] || c.Int("keepdims", 1) != 0 {
			reduced = append(reduced, ones[a])
		}
		_ = n
	}
	return ones, reduced
}

func foldReduce(c *node.Node, f reduction) tensor.Tensor {
	t := c.Required(0)
	gone := readFoldedAxes(c, len(t.Shape))
	if c.Err != nil {
		return node.Nothing
	}
	ones, reduced := reduceShapes(c, t.Shape, gone)
	if !f.empty && t.Count() == 0 && tensor.Count(ones) > 0 {
		c.Fail("over an axis without elements, %v of %v", axesOf(gone), t.Shape)
	}
	if element.IsFloat(t.DType) {
		return reduceReals(c, t, f, ones, reduced)
	}
	if f.integer == nil {
		c.Fail("of constants of %v is not supported", t.DType)
	}
	out := c.NewConstant(t.DType, reduced)
	_, at := c.Integers(0)
	if c.Err != nil {
		return node.Nothing
	}
	acc := slices.Repeat([]int64{f.integer.first}, out.Count())
	to := element.BroadcastIndex(ones, len(ones))
	element.Each(t.Shape, func(k int, index []int) {
		if i := to(index); c.Err == nil {
			acc[i] = f.integer.add(c, acc[i], at(k))
		}
	})
	for k, v := range acc {
		element.SetInteger(out, k, v)
	}
	return out
}

func axesOf(reducedAxes []bool) (axes []int) {
	for a, g := range reducedAxes {
		if g {
			axes = append(axes, a)
		}
	}
	return axes
}

// reduceReals sums in float64 and rounds once.
func reduceReals(c *node.Node, t tensor.Tensor, f reduction, ones, reduced []int) tensor.Tensor {
	out := c.NewConstant(t.DType, reduced)
	if c.Err != nil || !c.Reserve(tensor.F64, reduced) {
		return node.Nothing
	}
	acc := slices.Repeat([]float64{f.first}, out.Count())
	n := t.Count() / max(out.Count(), 1)
	at, _ := element.Reals(t)
	to := element.BroadcastIndex(ones, len(ones))
	element.Each(t.Shape, func(k int, index []int) {
		i := to(index)
		acc[i] = f.add(acc[i], at(k))
	})
	for k, v := range acc {
		element.SetReal(out, k, f.end(v, n))
	}
	return out
}

// eachLine calls f for each line of elements along an axis, with the offset of the first element, their
// number, and their distance.
func eachLine(shape []int, axis int, f func(first, n, step int)) {
	step, block := tensor.Count(shape[axis+1:]), tensor.Count(shape[axis:])
	for outer := range tensor.Count(shape[:axis]) {
		for inner := range step {
			f(outer*block+inner, shape[axis], step)
		}
	}
}

// CumSum returns the sums of all elements up to each one along an axis.
func CumSum(c *node.Node) tensor.Tensor {
	t := c.Required(0)
	l, _ := c.List("axis", 1)
	if len(l) != 1 {
		c.Fail("along %v, want one axis", l)
		return node.Nothing
	}
	axis := c.FoldAxis(l[0], len(t.Shape))
	out := c.NewConstant(t.DType, t.Shape)
	if c.Err != nil {
		return node.Nothing
	}
	later, back := c.Int("exclusive", 0) != 0, c.Int("reverse", 0) != 0
	add := elementAdder(c, out, t)
	eachLine(t.Shape, axis, func(first, n, step int) {
		if back {
			first, step = first+(n-1)*step, -step
		}
		for i := range n {
			at := first + i*step
			switch {
			case i == 0 && later: // the first sum stays zero
			case i == 0:
				element.Move(out, at, t, at)
			case later:
				add(at, at-step, at-step)
			default:
				add(at, at-step, at)
			}
		}
	})
	return out
}

// elementAdder returns a function that sets out[k] to out[a] + t[b].
func elementAdder(c *node.Node, out, t tensor.Tensor) func(k, a, b int) {
	if element.IsFloat(t.DType) {
		x, _ := element.Reals(out)
		y, _ := element.Reals(t)
		return func(k, a, b int) { element.SetReal(out, k, x(a)+y(b)) }
	}
	x, err := element.Integers(out)
	y, err2 := element.Integers(t)
	if err := cmp.Or(err, err2); err != nil {
		c.Fail("%w", err)
		return func(int, int, int) {}
	}
	return func(k, a, b int) { element.SetInteger(out, k, c.Concrete(x(a))+c.Concrete(y(b))) }
}

// elementOrder returns a function that reports whether element a of t comes before element b.
// Larger elements come first if largest is set, otherwise smaller ones. Equal elements keep their
// order.
func elementOrder(c *node.Node, t tensor.Tensor, largest bool) func(a, b int) int {
	by := func(order int) int {
		if largest {
			return -order
		}
		return order
	}
	if element.IsFloat(t.DType) {
		at, _ := element.Reals(t)
		return func(a, b int) int { return by(order(at(a), at(b)) % 2) }
	}
	at, err := element.Integers(t)
	if err != nil {
		c.Fail("%w", err)
		return func(int, int) int { return 0 }
	}
	return func(a, b int) int { return by(order(c.Concrete(at(a)), c.Concrete(at(b)))) }
}

// sortedLine returns the indices of a line of float32 in the order of TopK. It sorts integers with
// the bits of an element in their upper half and its index in their lower half. ok is false if t
// has another type, or the line has a NaN.
func sortedLine(t tensor.Tensor, first, n, step int, largest bool) (order []int, ok bool) {
	if t.DType != tensor.F32 || n > math.MaxInt32 {
		return nil, false
	}
	x, keys := t.F32(), make([]uint64, n)
	for i := range keys {
		v := x[first+i*step]
		if v != v {
			return nil, false
		}
		if v == 0 {
			v = 0 // -0 equals 0
		}
		const sign = 1 << 31
		bits := math.Float32bits(v) ^ sign
		if v < 0 {
			bits = ^(bits ^ sign)
		}
		if largest {
			bits = ^bits
		}
		keys[i] = uint64(bits)<<32 | uint64(i)
	}
	slices.Sort(keys)
	order = make([]int, n)
	for i, key := range keys {
		order[i] = int(uint32(key))
	}
	return order, true
}

// Arg returns the index of the largest element along an axis, or of the smallest one for ArgMin.
func Arg(c *node.Node) tensor.Tensor {
	t := c.Required(0)
	axis := c.FoldAxis(int64(c.Int("axis", 0)), len(t.Shape))
	if c.Err != nil {
		return node.Nothing
	}
	gone := make([]bool, len(t.Shape))
	gone[axis] = true
	_, reduced := reduceShapes(c, t.Shape, gone)
	if t.Shape[axis] == 0 {
		c.Fail("over an axis without elements, %d of %v", axis, t.Shape)
	}
	out, less := c.NewConstant(tensor.I64, reduced), elementOrder(c, t, c.Proto.OpType == "ArgMax")
	if c.Err != nil {
		return node.Nothing
	}
	k, last := 0, c.Int("select_last_index", 0) != 0
	eachLine(t.Shape, axis, func(first, n, step int) {
		best := 0
		for i := 1; i < n; i++ {
			if o := less(first+i*step, first+best*step); o < 0 || o == 0 && last {
				best = i
			}
		}
		out.I64()[k] = int64(best)
		k++
	})
	return out
}

// TopK returns the k largest or smallest elements along an axis, and their indices.
func TopK(c *node.Node) []tensor.Tensor {
	t := c.Required(0)
	l, ok := c.List("k", 1)
	if a := c.Attribute("k"); a != nil { // up to operator set 9
		l = []int64{int64(c.Int("k", 0))}
	}
	axis := c.FoldAxis(int64(c.Int("axis", -1)), len(t.Shape))
	if c.Err != nil || !ok || len(l) != 1 || l[0] < 0 || l[0] > int64(t.Shape[axis]) {
		c.Fail("of %v from %v is not supported", l, t)
		return nil
	}
	n := int(l[0])
	shape := slices.Clone(t.Shape)
	shape[axis] = n
	values, indices := c.NewConstant(t.DType, shape), c.NewConstant(tensor.I64, shape)
	largest := c.Int("largest", 1) != 0
	less := elementOrder(c, t, largest)
	if c.Err != nil {
		return nil
	}
	inner := tensor.Count(shape[axis+1:])
	k := 0
	eachLine(t.Shape, axis, func(first, length, step int) {
		all, ok := sortedLine(t, first, length, step, largest)
		if !ok {
			all = element.Indices(length)
			slices.SortFunc(all, func(a, b int) int { return cmp.Or(less(first+a*step, first+b*step), a-b) })
		}
		at := k/max(inner, 1)*n*inner + k%max(inner, 1)
		for i, a := range all[:n] {
			element.Move(values, at+i*inner, t, first+a*step)
			indices.I64()[at+i*inner] = int64(a)
		}
		k++
	})
	return []tensor.Tensor{values, indices}
}
