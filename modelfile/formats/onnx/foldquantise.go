package onnx

import (
	"math"

	"github.com/bnctl/bnctl/tensor"
)

// foldDequantize turns the integers of quantised weights into floats:
// (x-zero)*scale, where both are one number or one for each place of an axis.
func foldDequantize(c *call) numbers {
	x, _ := c.constant(0)
	q := c.quantisation(tensor.U8)
	if c.err != nil || !c.takes(tensor.F32, x.Shape) {
		return numbers{}
	}
	out := numbers{shape: x.Shape, f: make([]float32, x.Count())}
	switch x.DType {
	case tensor.I8:
		dequantise(out.f, tensor.View[int8](x), &q)
	case tensor.U8:
		dequantise(out.f, x.U8(), &q)
	case tensor.I16:
		dequantise(out.f, tensor.View[int16](x), &q)
	case tensor.U16:
		dequantise(out.f, tensor.View[uint16](x), &q)
	case tensor.I32:
		dequantise(out.f, x.I32(), &q)
	case tensor.I64: // what was computed here
		dequantise(out.f, x.I64(), &q)
	default:
		c.fail("of %v is not supported, only of integers", x.DType)
	}
	return out
}

func dequantise[T int8 | uint8 | int16 | uint16 | int32 | int64](out []float32, x []T, q *quantisation) {
	for k, v := range x {
		at := q.at(k)
		out[k] = float32(int64(v)-q.zero[at]) * q.scale[at]
	}
}

// foldQuantize rounds floats to integers, half to even, and clips them to
// their type: what is quantised and dequantised again has lost as much here.
func foldQuantize(c *call) numbers {
	x, q := c.numbers(0), c.quantisation(tensor.U8)
	if c.err == nil && x.f == nil {
		c.fail("of %v is not supported, only of floats", c.in[0].c.DType)
	}
	if c.err != nil || !c.takes(tensor.I64, x.shape) {
		return numbers{}
	}
	out := numbers{shape: x.shape, i: make([]int64, len(x.f))}
	for k, v := range x.f {
		at := q.at(k)
		n := math.RoundToEven(float64(v/q.scale[at])) + float64(q.zero[at])
		if math.IsNaN(n) {
			c.fail("of what is no number has no result")
			return numbers{}
		}
		out.i[k] = int64(min(max(n, float64(q.least)), float64(q.most)))
	}
	return out
}

// quantisation says how the elements of a tensor are quantised.
type quantisation struct {
	scale       []float32
	zero        []int64
	each, inner int // places of the axis, elements of one of them; 1 and 1 for one scale
	least, most int64
}

func (q *quantisation) at(k int) int { return k / q.inner % q.each }

// quantisation reads operands 1 and 2 and the axis; otherwise is the type of
// the integers where no zero point tells it.
func (c *call) quantisation(otherwise tensor.DType) quantisation {
	scale := c.numbers(1)
	zero, d := numbers{i: make([]int64, max(len(scale.f), 1))}, otherwise
	if c.has(2) {
		zero, d = c.numbers(2), c.in[2].c.DType
	}
	if c.int("block_size", 0) != 0 {
		c.fail("in blocks (block_size) is not supported")
	}
	bounds := map[tensor.DType][2]int64{tensor.U8: {0, 255}, tensor.I8: {-128, 127},
		tensor.U16: {0, 65535}, tensor.I16: {-32768, 32767}, tensor.I32: {math.MinInt32, math.MaxInt32}}
	limits, ok := bounds[d]
	if !ok {
		c.fail("to %v is not supported", d)
	}
	q := quantisation{scale: scale.f, zero: zero.i, each: 1, inner: 1, least: limits[0], most: limits[1]}
	if len(q.scale) == 0 || len(q.zero) != len(q.scale) {
		c.fail("%d scales and %d zero points", len(q.scale), len(q.zero))
		return q
	}
	if len(q.scale) > 1 {
		c.along(&q)
	}
	return q
}

// along reads the axis that has a scale for each of its places.
func (c *call) along(q *quantisation) {
	x, _ := c.constant(0)
	axis := c.foldAxis(int64(c.int("axis", 1)), len(x.Shape))
	if c.err != nil {
		return
	}
	if q.each, q.inner = len(q.scale), tensor.Count(x.Shape[axis+1:]); x.Shape[axis] != q.each {
		c.fail("%d scales for an axis of %d", q.each, x.Shape[axis])
	}
}
