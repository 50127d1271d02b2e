package onnx

import (
	"math"

	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// foldDequantize turns the integers of quantised weights into floats:
// (x-zero)*scale, where both are one number or one for each index of an axis.
func foldDequantize(c *node.Node) tensor.Tensor {
	x, at := c.Integers(0)
	q := readQuantisation(c, tensor.U8)
	if c.Err == nil && x.DType == tensor.Bool {
		c.Fail("of %v is not supported, only of integers", x.DType)
	}
	out := c.NewConstant(tensor.F32, x.Shape)
	if c.Err != nil {
		return node.Nothing
	}
	for k := range out.F32() {
		i := q.at(k)
		out.F32()[k] = float32(at(k)-q.zero[i]) * q.scale[i]
	}
	return out
}

// foldQuantize rounds floats to integers, half to even, and clips them to
// their type: what is quantised and dequantised again has lost as much here.
func foldQuantize(c *node.Node) tensor.Tensor {
	x, q := c.Required(0), readQuantisation(c, tensor.U8)
	if c.Err == nil && x.DType != tensor.F32 {
		c.Fail("of %v is not supported, only of floats", x.DType)
	}
	out := c.NewConstant(q.d, x.Shape)
	if c.Err != nil {
		return node.Nothing
	}
	for k, v := range x.F32() {
		i := q.at(k)
		n := math.RoundToEven(float64(v/q.scale[i])) + float64(q.zero[i])
		if math.IsNaN(n) {
			c.Fail("of what is no number has no result")
			return node.Nothing
		}
		element.SetInteger(out, k, int64(min(max(n, float64(q.least)), float64(q.most))))
	}
	return out
}

// quantisation says how the elements of a tensor are quantised.
type quantisation struct {
	d           tensor.DType // of the integers
	scale       []float32
	zero        []int64
	axis        int // that has a scale for each index
	each, inner int // length of the axis, elements at one index; 1 and 1 for one scale
	least, most int64
}

func (q *quantisation) at(k int) int { return k / q.inner % q.each }

// readQuantisation reads operands 1 and 2 and the axis; otherwise is the type of
// the integers where no zero point tells it.
func readQuantisation(c *node.Node, otherwise tensor.DType) quantisation {
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
	q := quantisation{d: d, each: 1, inner: 1, least: limits[0], most: limits[1], zero: zero}
	if c.Err != nil {
		return q
	}
	q.scale = scale.F32()
	if len(q.scale) == 0 || len(q.zero) != len(q.scale) {
		c.Fail("%d scales and %d zero points", len(q.scale), len(q.zero))
		return q
	}
	if len(q.scale) > 1 {
		readScaledAxis(c, &q)
	}
	return q
}

// readScaledAxis reads the axis that has a scale for each of its indices.
func readScaledAxis(c *node.Node, q *quantisation) {
	shape, axis := c.In[0].Tensor.Shape, c.FoldAxis
	if !c.In[0].IsConstant() {
		shape, axis = c.Shape(0), c.Axis
	}
	q.axis = axis(int64(c.Int("axis", 1)), len(shape))
	if c.Err != nil {
		return
	}
	if q.each, q.inner = len(q.scale), tensor.Count(shape[q.axis+1:]); shape[q.axis] != q.each {
		c.Fail("%d scales for an axis of %d", q.each, shape[q.axis])
	}
}
