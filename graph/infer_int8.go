package graph

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// MostTerms is the number of products that a sum of int8 may have: each is at most 255*128, and
// a bias is at most MostBias, so that no sum leaves int32.
const MostTerms = (math.MaxInt32 - MostBias) / (255 * 128)

// MostBias bounds a bias of int8. Its unit is a step of the sum.
const MostBias = 1 << 30

// Int8 reports whether o computes with bytes, by docs/int8.md.
func (o Op) Int8() bool { return o >= Quantize && o <= QuantizeWeight }

// bytes checks that operand i is rows u8 of a rank (any if negative) and returns its shape.
func (c *inference) bytes(i, rank int) ([]int, error) {
	t := c.in(i)
	if t.Kind != Rows || t.DType != tensor.U8 || rank >= 0 && len(t.Shape) != rank {
		want := "rows u8"
		if rank >= 0 {
			want += fmt.Sprintf(" of rank %d", rank)
		}
		return nil, fmt.Errorf("operand %d is %v, want %s", i, t, want)
	}
	return t.Shape, nil
}

// byteAttrs checks that attributes are bytes.
func (c *inference) byteAttrs(keys ...string) error {
	for _, key := range keys {
		if v := c.node.Int(key); v < 0 || v > 255 {
			return fmt.Errorf("attribute %s is %d, want 0 to 255", key, v)
		}
	}
	return nil
}

// factors checks that attributes are factors: positive float32 that are not subnormal.
func (c *inference) factors(keys ...string) error {
	for _, key := range keys {
		v := c.node.Float(key)
		if f := float32(v); !(f >= 0x1p-126 && f <= math.MaxFloat32) {
			return fmt.Errorf("attribute %s is %g, want a number of 2^-126 to %g", key, v, math.MaxFloat32)
		}
	}
	return nil
}

// bounds checks the attributes zero, min and max of a result.
func (c *inference) bounds() error {
	if err := c.byteAttrs("zero", "min", "max"); err != nil {
		return err
	}
	if least, most := c.node.Int("min"), c.node.Int("max"); least > most {
		return fmt.Errorf("attribute min is %d and max %d", least, most)
	}
	return nil
}

func inferQuantize(c *inference) error {
	x, err := c.rows(0, -1)
	if err := cmp.Or(err, c.factors("scale"), c.byteAttrs("zero")); err != nil {
		return err
	}
	return c.yield(Rows, tensor.U8, x...)
}

func inferDequantize(c *inference) error {
	x, err := c.bytes(0, -1)
	if err := cmp.Or(err, c.factors("scale"), c.byteAttrs("zero")); err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, x...)
}

// sums checks the operands of an int8 product after the first, for a weight of this shape,
// and the attributes of its sums. It returns the type of the result's elements.
func (c *inference) sums(weight []int) (tensor.DType, error) {
	out := weight[0]
	if err := cmp.Or(c.want(1, Whole, tensor.I8, weight), c.want(2, Whole, tensor.I32, []int{out}),
		c.want(3, Whole, tensor.F32, []int{out}), c.bounds(), c.byteAttrs("x_zero")); err != nil {
		return 0, err
	}
	if n := tensor.Count(weight[1:]); n > MostTerms {
		return 0, fmt.Errorf("a sum has %d products, want at most %d: more could leave int32", n, MostTerms)
	}
	if !c.node.Bool("float") {
		return tensor.U8, nil
	}
	if c.node.Int("zero") != 0 || c.node.Int("min") != 0 || c.node.Int("max") != 255 {
		return 0, fmt.Errorf("attribute float goes with none of zero, min and max")
	}
	return tensor.F32, nil
}

func inferConvInt8(c *inference) error {
	x, err := c.bytes(0, 3)
	k := c.in(1).Shape
	if err == nil && len(k) != 4 {
		err = fmt.Errorf("operand 1 is %v, want a kernel whole i8 of rank 4", c.in(1))
	}
	if err != nil {
		return err
	}
	d, err := c.sums(k)
	if err != nil {
		return err
	}
	w, err := c.window(k[2], k[3])
	if err != nil {
		return err
	}
	if err := checkGroups(w.Groups, x[0], k[0], k[1]); err != nil {
		return err
	}
	return c.yield(Rows, d, k[0], w.Extent(0, x[1]), w.Extent(1, x[2]))
}

func inferDenseInt8(c *inference) error {
	x, err := c.bytes(0, 1)
	if err != nil {
		return err
	}
	w := c.in(1)
	if len(w.Shape) != 2 || w.Shape[1] != x[0] {
		return fmt.Errorf("operand 1 is %v, want whole i8[outputs,%d]", w, x[0])
	}
	d, err := c.sums(w.Shape)
	if err != nil {
		return err
	}
	return c.yield(Rows, d, w.Shape[0])
}

// pair checks the attributes of a sum or a product of two maps.
func (c *inference) pair() error {
	return cmp.Or(c.bounds(), c.byteAttrs("a_zero", "b_zero"), c.oneOf("joint", "", "u8", "i8"))
}

func inferAddInt8(c *inference) error {
	a, err := c.bytes(0, -1)
	if err := cmp.Or(err, c.want(1, Rows, tensor.U8, a), c.pair(), c.factors("a_by", "b_by")); err != nil {
		return err
	}
	return c.yield(Rows, tensor.U8, a...)
}

func inferMulInt8(c *inference) error {
	a, err := c.bytes(0, -1)
	if err == nil && len(a) == 0 {
		err = fmt.Errorf("operand 0 has no channel axis")
	}
	if err := cmp.Or(err, c.pair(), c.factors("by")); err != nil {
		return err
	}
	gate := append([]int{a[0]}, slices.Repeat([]int{1}, len(a)-1)...)
	if b := c.in(1); slices.Equal(b.Shape, gate) {
		a = gate
	}
	if err := c.want(1, Rows, tensor.U8, a); err != nil {
		return err
	}
	return c.yield(Rows, tensor.U8, c.in(0).Shape...)
}

// poolBytes checks a pool of bytes.
func (c *inference) poolBytes() error {
	x, err := c.bytes(0, 3)
	if err != nil {
		return err
	}
	w, err := c.poolWindow(x[1:])
	if err != nil {
		return err
	}
	if n := w.Kernel[0] * w.Kernel[1]; n > maxLength/256 {
		return fmt.Errorf("a window has %d elements, want at most %d", n, maxLength/256)
	}
	return c.yield(Rows, tensor.U8, x[0], w.Extent(0, x[1]), w.Extent(1, x[2]))
}

func inferMaxPoolInt8(c *inference) error { return c.poolBytes() }

func inferAvgPoolInt8(c *inference) error {
	return cmp.Or(c.byteAttrs("x_zero", "zero"), c.factors("by"), c.poolBytes())
}

func inferTableInt8(c *inference) error {
	x, err := c.bytes(0, -1)
	if err := cmp.Or(err, c.want(1, Whole, tensor.U8, []int{256})); err != nil {
		return err
	}
	return c.yield(Rows, tensor.U8, x...)
}

func inferConcatInt8(c *inference) error {
	if _, err := c.bytes(0, -1); err != nil {
		return err
	}
	return c.concat(c.in(0))
}

func inferPadInt8(c *inference) error {
	if _, err := c.bytes(0, -1); err != nil {
		return err
	}
	return cmp.Or(c.byteAttrs("zero"), c.pad(c.in(0)))
}

func inferQuantizeWeight(c *inference) error {
	w := c.in(0)
	if w.Kind != Whole || w.DType != tensor.F32 || len(w.Shape) < 2 {
		return fmt.Errorf("operand 0 is %v, want whole f32[outputs,...]", w)
	}
	out := w.Shape[:1]
	return cmp.Or(c.want(1, Whole, tensor.F32, out), c.factors("x_scale", "scale"),
		c.yield(Whole, tensor.I8, w.Shape...), c.yield(Whole, tensor.I32, out...),
		c.yield(Whole, tensor.F32, out...), c.yield(Whole, tensor.F32, w.Shape...))
}
