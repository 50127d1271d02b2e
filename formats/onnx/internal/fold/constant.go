package fold

import (
	"bytes"
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// RefuseText refuses a Constant. It is called for text only: numbers are stored when
// the file is opened.
func RefuseText(c *node.Node) tensor.Tensor {
	c.Fail("its value is text")
	return node.Nothing
}

// ConstantOfShape returns a tensor that repeats one number.
func ConstantOfShape(c *node.Node) tensor.Tensor {
	one, shape := ReadFilled(c)
	return c.Gathered(one, shape, func([]int) int { return 0 })
}

// ReadFilled returns the number and the shape of a ConstantOfShape.
func ReadFilled(c *node.Node) (number tensor.Tensor, shape []int) {
	_, at := c.Integers(0)
	if c.Err != nil {
		return node.Nothing, nil
	}
	var dims []int64
	for k := range c.Required(0).Count() {
		dims = append(dims, c.Concrete(at(k)))
	}
	number = ReadFillingNumber(c)
	shape, err := element.Lengths(number.DType, dims)
	if err != nil {
		c.Fail("%w", err)
	}
	return number, shape
}

// ReadFillingNumber returns the number that a ConstantOfShape repeats.
func ReadFillingNumber(c *node.Node) tensor.Tensor {
	a := c.Attribute("value")
	if a == nil || a.T == nil {
		return tensor.Scalar(float32(0))
	}
	t, err := decode.Load(a.T)
	if err == nil && (t.DType == tensor.F16 || t.DType == tensor.BF16) {
		t, err = t.ToF32()
	}
	if err != nil || t.Count() != 1 {
		c.Fail("its value is not one number")
		return node.Nothing
	}
	a.T.RawData, a.T.DataType = slices.Clone(t.Bytes), int32(onnxpb.Number(t.DType)) // load removed the elements
	return t
}

// Shape returns the lengths of operand 0 in the file. The length of the batch stays open.
func Shape(c *node.Node) tensor.Tensor {
	all := c.Dims()
	from, to := c.Int("start", 0), c.Int("end", len(all))
	if from < 0 {
		from += len(all)
	}
	if to < 0 {
		to += len(all)
	}
	from, to = min(max(from, 0), len(all)), min(max(to, 0), len(all))
	all = slices.Clone(all[from:max(from, to)])
	return tensor.Of(append([]int64{}, all...), len(all))
}

// Size returns the number of elements of operand 0.
func Size(c *node.Node) tensor.Tensor {
	n := int64(1)
	for _, d := range c.Dims() {
		if times, ok := element.TimesBatch(d); ok && times == 1 {
			n = multiplyIntegers(c, n, d)
			continue
		}
		if d = c.Concrete(d); d > 0 && n > math.MaxInt64/d {
			c.Fail("the shape has too many elements")
			return node.Nothing
		}
		n = multiplyIntegers(c, n, d)
	}
	return tensor.Scalar(n)
}

// Range counts from one number up to, but not including, another.
func Range(c *node.Node) tensor.Tensor {
	from, to, by := c.Required(0), c.Required(1), c.Required(2)
	if c.Err == nil && (from.Count() != 1 || to.Count() != 1 || by.Count() != 1 || from.DType != to.DType ||
		from.DType != by.DType) {
		c.Fail("of %v, %v and %v is not supported, only of three numbers of one type", from, to, by)
	}
	if c.Err != nil {
		return node.Nothing
	}
	if element.IsFloat(from.DType) {
		return countReals(c)
	}
	_, a := c.Integers(0)
	_, z := c.Integers(1)
	_, s := c.Integers(2)
	if c.Err != nil {
		return node.Nothing
	}
	first, last, step := c.Concrete(a(0)), c.Concrete(z(0)), c.Concrete(s(0))
	n := math.Ceil((float64(last) - float64(first)) / float64(step))
	out := c.NewConstant(from.DType, []int{checkLength(c, n)})
	for k := range out.Count() {
		element.SetInteger(out, k, first+int64(k)*step)
	}
	return out
}

func countReals(c *node.Node) tensor.Tensor {
	from, a := c.Reals(0)
	_, z := c.Reals(1)
	_, s := c.Reals(2)
	if c.Err != nil {
		return node.Nothing
	}
	out := c.NewConstant(from.DType, []int{checkLength(c, math.Ceil((z(0)-a(0))/s(0)))})
	for k := range out.Count() {
		element.SetReal(out, k, a(0)+float64(float64(k)*s(0)))
	}
	return out
}

// checkLength checks a computed length, which must be at least 0.
func checkLength(c *node.Node, n float64) int {
	if math.IsNaN(n) || n > math.MaxInt32 {
		c.Fail("a length of %v", n)
		return 0
	}
	return int(max(n, 0))
}

// OneHot returns a tensor with a new axis. Along it, the element at the given index is on, and
// the others are off.
func OneHot(c *node.Node) tensor.Tensor {
	index, depth, pair := c.Required(0), c.Required(1), c.Required(2)
	if c.Err != nil {
		return node.Nothing
	}
	n, err := CastTo(c, depth, tensor.I64), error(nil)
	at, err := element.Integers(index)
	if err != nil || depth.Count() != 1 || pair.Count() != 2 || c.Err != nil {
		c.Fail("of %v to a depth of %v with %v is not supported", index, depth, pair)
		return node.Nothing
	}
	length := n.I64()[0]
	if length < 1 || length > math.MaxInt32 {
		c.Fail("to a depth of %d", length)
		return node.Nothing
	}
	axis := c.FoldAxis(int64(c.Int("axis", -1)), len(index.Shape)+1)
	shape := slices.Insert(slices.Clone(index.Shape), axis, int(length))
	step := element.Strides(index.Shape)
	return c.Gathered(pair, shape, func(to []int) int {
		k := 0
		for a, s := range step {
			if a < axis {
				k += to[a] * s
			} else {
				k += to[a+1] * s
			}
		}
		v := at(k)
		if v < 0 {
			v += length
		}
		if v == int64(to[axis]) {
			return 1
		}
		return 0
	})
}

// EyeLike returns a matrix with ones on a diagonal.
func EyeLike(c *node.Node) tensor.Tensor {
	if !c.Has(0) || !c.In[0].IsConstant() || len(c.In[0].Tensor.Shape) != 2 {
		c.Fail("of what is no constant matrix is not supported")
		return node.Nothing
	}
	d := c.In[0].Tensor.DType
	if c.Attribute("dtype") != nil {
		var err error
		if d, err = onnxpb.DType(int32(c.Int("dtype", 0))); err != nil {
			c.Fail("%w", err)
		}
	}
	if d == tensor.F16 || d == tensor.BF16 {
		d = tensor.F32
	}
	out, k := c.NewConstant(d, c.In[0].Tensor.Shape), c.Int("k", 0)
	if c.Err != nil {
		return node.Nothing
	}
	element.Each(out.Shape, func(to int, at []int) {
		if at[1]-at[0] != k {
			return
		}
		if element.IsFloat(d) {
			element.SetReal(out, to, 1)
		} else {
			element.SetInteger(out, to, 1)
		}
	})
	return out
}

// nonZeros returns the offsets of the nonzero elements, in increasing order.
func nonZeros(t tensor.Tensor) (found []int) {
	if t.DType == tensor.Bool {
		found = make([]int, 0, len(t.Bytes)-bytes.Count(t.Bytes, []byte{0}))
		for k, b := range t.Bytes {
			if b != 0 {
				found = append(found, k)
			}
		}
		return found
	}
	size, mask := t.DType.Size(), byte(0xff)
	if element.IsFloat(t.DType) {
		mask = 0x7f // -0 is 0
	}
	for k := range t.Count() {
		e := t.Bytes[k*size:][:size]
		bits := e[size-1] & mask
		for _, b := range e[:size-1] {
			bits |= b
		}
		if bits != 0 {
			found = append(found, k)
		}
	}
	return found
}

// NonZero lists the indices of the nonzero elements, one row per axis.
func NonZero(c *node.Node) tensor.Tensor {
	t := c.Required(0)
	if c.Err == nil && len(t.Shape) == 0 {
		c.Fail("of a single number is not supported")
	}
	if c.Err != nil {
		return node.Nothing
	}
	found := nonZeros(t)
	out := c.NewConstant(tensor.I64, []int{len(t.Shape), len(found)})
	if c.Err != nil {
		return node.Nothing
	}
	step := 1
	for a := len(t.Shape) - 1; a >= 0; a-- {
		along := out.I64()[a*len(found):][:len(found)]
		if len(t.Shape) == 1 {
			copy(along, element.Widened(found))
			break
		}
		for n, k := range found {
			along[n] = int64(k / step % t.Shape[a])
		}
		step *= t.Shape[a]
	}
	return out
}
