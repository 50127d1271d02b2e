package onnx

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// foldConstant is called only for values that are no numbers: those are stored when the file is
// opened.
func foldConstant(c *Node) tensor.Tensor {
	c.fail("its value is text")
	return nothing
}

func foldConstantOfShape(c *Node) tensor.Tensor {
	one, shape := readFilled(c)
	return c.gathered(one, shape, func([]int) int { return 0 })
}

// readFilled returns the number and the shape of a ConstantOfShape.
func readFilled(c *Node) (one tensor.Tensor, shape []int) {
	_, at := c.integers(0)
	if c.err != nil {
		return nothing, nil
	}
	var dims []int64
	for k := range c.required(0).Count() {
		dims = append(dims, c.concrete(at(k)))
	}
	one = readFillingNumber(c)
	shape, err := element.Lengths(one.DType, dims)
	if err != nil {
		c.fail("%w", err)
	}
	return one, shape
}

// readFillingNumber returns the number that a ConstantOfShape repeats.
func readFillingNumber(c *Node) tensor.Tensor {
	a := c.attribute("value")
	if a == nil || a.T == nil {
		return tensor.Scalar(float32(0))
	}
	t, err := decode.Load(a.T)
	if err == nil && (t.DType == tensor.F16 || t.DType == tensor.BF16) {
		t, err = t.ToF32()
	}
	if err != nil || t.Count() != 1 {
		c.fail("its value is not one number")
		return nothing
	}
	a.T.RawData, a.T.DataType = slices.Clone(t.Bytes), int32(onnxpb.Number(t.DType)) // load took it
	return t
}

func foldShape(c *Node) tensor.Tensor {
	all := c.dims()
	from, to := c.int("start", 0), c.int("end", len(all))
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

func foldSize(c *Node) tensor.Tensor {
	n := int64(1)
	for _, d := range c.dims() {
		if d = c.concrete(d); d > 0 && n > math.MaxInt64/d {
			c.fail("the shape has too many elements")
			return nothing
		}
		n *= d
	}
	return tensor.Scalar(n)
}

// foldRange counts from a number to another one, which is not reached.
func foldRange(c *Node) tensor.Tensor {
	from, to, by := c.required(0), c.required(1), c.required(2)
	if c.err == nil && (from.Count() != 1 || to.Count() != 1 || by.Count() != 1 || from.DType != to.DType ||
		from.DType != by.DType) {
		c.fail("of %v, %v and %v is not supported, only of three numbers of one type", from, to, by)
	}
	if c.err != nil {
		return nothing
	}
	if element.IsFloat(from.DType) {
		return countReals(c)
	}
	_, a := c.integers(0)
	_, z := c.integers(1)
	_, s := c.integers(2)
	if c.err != nil {
		return nothing
	}
	first, last, step := c.concrete(a(0)), c.concrete(z(0)), c.concrete(s(0))
	n := math.Ceil((float64(last) - float64(first)) / float64(step))
	out := c.newConstant(from.DType, []int{checkLength(c, n)})
	for k := range out.Count() {
		element.SetInteger(out, k, first+int64(k)*step)
	}
	return out
}

func countReals(c *Node) tensor.Tensor {
	from, a := c.reals(0)
	_, z := c.reals(1)
	_, s := c.reals(2)
	if c.err != nil {
		return nothing
	}
	out := c.newConstant(from.DType, []int{checkLength(c, math.Ceil((z(0)-a(0))/s(0)))})
	for k := range out.Count() {
		element.SetReal(out, k, a(0)+float64(float64(k)*s(0)))
	}
	return out
}

// checkLength returns a computed length, at least 0.
func checkLength(c *Node, n float64) int {
	if math.IsNaN(n) || n > math.MaxInt32 {
		c.fail("a length of %v", n)
		return 0
	}
	return int(max(n, 0))
}

// foldOneHot sets, along a new axis, the element that an index names.
func foldOneHot(c *Node) tensor.Tensor {
	index, depth, pair := c.required(0), c.required(1), c.required(2)
	if c.err != nil {
		return nothing
	}
	n, err := castConstant(c, depth, tensor.I64), error(nil)
	at, err := element.Integers(index)
	if err != nil || depth.Count() != 1 || pair.Count() != 2 || c.err != nil {
		c.fail("of %v to a depth of %v with %v is not supported", index, depth, pair)
		return nothing
	}
	length := n.I64()[0]
	if length < 1 || length > math.MaxInt32 {
		c.fail("to a depth of %d", length)
		return nothing
	}
	axis := c.foldAxis(int64(c.int("axis", -1)), len(index.Shape)+1)
	shape := slices.Insert(slices.Clone(index.Shape), axis, int(length))
	step := element.Strides(index.Shape)
	return c.gathered(pair, shape, func(to []int) int {
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

func foldEyeLike(c *Node) tensor.Tensor {
	if !c.has(0) || !c.in[0].isConstant() || len(c.in[0].c.Shape) != 2 {
		c.fail("of what is no constant matrix is not supported")
		return nothing
	}
	d := c.in[0].c.DType
	if c.attribute("dtype") != nil {
		var err error
		if d, err = onnxpb.DType(int32(c.int("dtype", 0))); err != nil {
			c.fail("%w", err)
		}
	}
	if d == tensor.F16 || d == tensor.BF16 {
		d = tensor.F32
	}
	out, k := c.newConstant(d, c.in[0].c.Shape), c.int("k", 0)
	if c.err != nil {
		return nothing
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

// foldNonZero lists the indices of what is not zero, an axis in a row.
func foldNonZero(c *Node) tensor.Tensor {
	t := c.required(0)
	if c.err == nil && len(t.Shape) == 0 {
		c.fail("of a single number is not supported")
	}
	if c.err != nil {
		return nothing
	}
	zero := make([]byte, t.DType.Size())
	negative := t.DType == tensor.F32 || t.DType == tensor.F64 // -0 is 0
	var found [][]int
	element.Each(t.Shape, func(k int, at []int) {
		b := slices.Clone(t.Bytes[k*len(zero) : (k+1)*len(zero)])
		if negative {
			b[len(b)-1] &= 0x7f
		}
		if !slices.Equal(b, zero) {
			found = append(found, slices.Clone(at))
		}
	})
	out := c.newConstant(tensor.I64, []int{len(t.Shape), len(found)})
	if c.err != nil {
		return nothing
	}
	for n, at := range found {
		for a, i := range at {
			out.I64()[a*len(found)+n] = int64(i)
		}
	}
	return out
}
