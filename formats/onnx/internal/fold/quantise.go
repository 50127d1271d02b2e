package fold

import (
	"math"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// Dequantize converts the integers of quantised weights to floats: (x-zero)*scale. zero and scale are
// one number, or one for each index of an axis.
func Dequantize(c *node.Node) tensor.Tensor {
	x, at := c.Integers(0)
	q := ReadQuantisation(c, tensor.U8)
	if c.Err == nil && x.DType == tensor.Bool {
		c.Fail("of %v is not supported, only of integers", x.DType)
	}
	if c.Err == nil && c.Has(2) && q.D != x.DType {
		c.Fail("of %v with a zero point of %v", x.DType, q.D)
	}
	out := c.NewConstant(tensor.F32, x.Shape)
	if c.Err != nil {
		return node.Nothing
	}
	for k := range out.F32() {
		i := q.scaleIndex(k)
		out.F32()[k] = float32(at(k)-q.Zero[i]) * q.Scale[i]
	}
	return out
}

// Quantize rounds floats to integers, half to even, and clips them to their type. A value that is
// quantised and dequantised has the same error as at run time.
func Quantize(c *node.Node) tensor.Tensor {
	x, q := c.Required(0), ReadQuantisation(c, tensor.U8)
	if c.Err == nil && x.DType != tensor.F32 {
		c.Fail("of %v is not supported, only of floats", x.DType)
	}
	out := c.NewConstant(q.D, x.Shape)
	if c.Err != nil {
		return node.Nothing
	}
	for k, v := range x.F32() {
		i := q.scaleIndex(k)
		n := math.RoundToEven(float64(v/q.Scale[i])) + float64(q.Zero[i])
		if math.IsNaN(n) {
			c.Fail("of what is no number has no result")
			return node.Nothing
		}
		element.SetInteger(out, k, int64(min(max(n, float64(q.Least)), float64(q.Most))))
	}
	return out
}

// Quantisation describes how the elements of a tensor are quantised.
type Quantisation struct {
	D                 tensor.DType // type of the integers
	Scale             []float32
	Zero              []int64
	Axis              int // axis with a scale for each index
	axisLength, inner int // length of the axis, and elements at each index in a row; 1 and 1 for one scale
	Least, Most       int64
}

func (q *Quantisation) scaleIndex(k int) int { return k / q.inner % q.axisLength }

// ReadQuantisation reads operands 1 and 2 and the axis. otherwise is the type of the integers if there
// is no zero point.
func ReadQuantisation(c *node.Node, otherwise tensor.DType) Quantisation {
	scale := c.ToF32(c.Required(1))
	zero, d := make([]int64, max(scale.Count(), 1)), otherwise
	if n := c.Int("output_dtype", 0); n != 0 {
		var err error
		if d, err = onnxpb.DType(int32(n)); err != nil {
			c.Fail("%w", err)
		}
	}
	if c.Has(2) {
		t := c.Required(2)
		var err error
		if zero, err = element.IntegersOf(t); err != nil {
			c.Fail("%w", err)
		}
		d = t.DType
	}
	if c.Int("block_size", 0) != 0 {
		c.Fail("in blocks (block_size) is not supported")
	}
	limits, ok := element.Limits[d]
	if !ok || d == tensor.U32 || d == tensor.I64 {
		c.Fail("to %v is not supported", d)
	}
	q := Quantisation{D: d, axisLength: 1, inner: 1, Least: limits[0], Most: limits[1], Zero: zero}
	if c.Err != nil {
		return q
	}
	q.Scale = scale.F32()
	for i, s := range q.Scale {
		if !(s >= 0 && s <= math.MaxFloat32) {
			c.Fail("with a scale of %g; scale %d must be a positive number", s, i)
			return q
		}
	}
	if len(q.Scale) == 0 || len(q.Zero) != len(q.Scale) {
		c.Fail("%d scales and %d zero points", len(q.Scale), len(q.Zero))
		return q
	}
	if len(q.Scale) > 1 {
		readScaledAxis(c, &q)
	}
	return q
}

// readScaledAxis reads the axis that has a scale for each of its indices.
func readScaledAxis(c *node.Node, q *Quantisation) {
	shape, axis := c.In[0].Tensor.Shape, c.FoldAxis
	if !c.In[0].IsConstant() {
		shape, axis = c.Shape(0), c.Axis
	}
	q.Axis = axis(int64(c.Int("axis", 1)), len(shape))
	if c.Err != nil {
		return
	}
	if q.axisLength, q.inner = len(q.Scale), tensor.Count(shape[q.Axis+1:]); shape[q.Axis] != q.axisLength {
		c.Fail("%d scales for an axis of %d", q.axisLength, shape[q.Axis])
	}
}

// Zeros returns the zero points as f32.
func (q *Quantisation) Zeros() []float32 {
	zero := make([]float32, len(q.Zero))
	for i, z := range q.Zero {
		zero[i] = float32(z)
	}
	return zero
}
