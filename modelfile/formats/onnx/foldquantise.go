package onnx

import (
	"math"

	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// foldDequantize turns the integers of quantised weights into floats:
// (x-zero)*scale, where both are one number or one for each index of an axis.
func foldDequantize(c *Node) tensor.Tensor {
	x, at := c.integers(0)
	q := readQuantisation(c, tensor.U8)
	if c.err == nil && x.DType == tensor.Bool {
		c.fail("of %v is not supported, only of integers", x.DType)
	}
	out := c.newConstant(tensor.F32, x.Shape)
	if c.err != nil {
		return nothing
	}
	for k := range out.F32() {
		i := q.at(k)
		out.F32()[k] = float32(at(k)-q.zero[i]) * q.scale[i]
	}
	return out
}

// foldQuantize rounds floats to integers, half to even, and clips them to
// their type: what is quantised and dequantised again has lost as much here.
func foldQuantize(c *Node) tensor.Tensor {
	x, q := c.required(0), readQuantisation(c, tensor.U8)
	if c.err == nil && x.DType != tensor.F32 {
		c.fail("of %v is not supported, only of floats", x.DType)
	}
	out := c.newConstant(q.d, x.Shape)
	if c.err != nil {
		return nothing
	}
	for k, v := range x.F32() {
		i := q.at(k)
		n := math.RoundToEven(float64(v/q.scale[i])) + float64(q.zero[i])
		if math.IsNaN(n) {
			c.fail("of what is no number has no result")
			return nothing
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
func readQuantisation(c *Node, otherwise tensor.DType) quantisation {
	scale := c.toF32(c.required(1))
	zero, d := make([]int64, max(scale.Count(), 1)), otherwise
	if n := c.int("output_dtype", 0); n != 0 {
		var err error
		if d, err = onnxpb.DType(int32(n)); err != nil {
			c.fail("%w", err)
		}
	}
	if c.has(2) {
		t := c.required(2)
		var err error
		if zero, err = element.IntegersOf(t); err != nil {
			c.fail("%w", err)
		}
		d = t.DType
	}
	if c.int("block_size", 0) != 0 {
		c.fail("in blocks (block_size) is not supported")
	}
	limits, ok := element.Limits[d]
	if !ok || d == tensor.U32 || d == tensor.I64 {
		c.fail("to %v is not supported", d)
	}
	q := quantisation{d: d, each: 1, inner: 1, least: limits[0], most: limits[1], zero: zero}
	if c.err != nil {
		return q
	}
	q.scale = scale.F32()
	if len(q.scale) == 0 || len(q.zero) != len(q.scale) {
		c.fail("%d scales and %d zero points", len(q.scale), len(q.zero))
		return q
	}
	if len(q.scale) > 1 {
		readScaledAxis(c, &q)
	}
	return q
}

// readScaledAxis reads the axis that has a scale for each of its indices.
func readScaledAxis(c *Node, q *quantisation) {
	shape, axis := c.in[0].c.Shape, c.foldAxis
	if !c.in[0].isConstant() {
		shape, axis = c.shape(0), c.axis
	}
	q.axis = axis(int64(c.int("axis", 1)), len(shape))
	if c.err != nil {
		return
	}
	if q.each, q.inner = len(q.scale), tensor.Count(shape[q.axis+1:]); shape[q.axis] != q.each {
		c.fail("%d scales for an axis of %d", q.each, shape[q.axis])
	}
}
