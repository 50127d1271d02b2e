package graph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

func inferImage(c *inference) error {
	t := c.in(0)
	if t.Kind != Rows || t.DType != tensor.U8 || len(t.Shape) != 3 {
		return fmt.Errorf("operand 0 is %v, want rows u8[height,width,channels]", t)
	}
	for _, key := range []string{"mean", "std"} {
		if l := c.node.Floats(key); len(l) != 0 && len(l) != t.Shape[2] {
			return fmt.Errorf("attribute %s has %d elements for %d channels", key, len(l), t.Shape[2])
		}
	}
	if slices.Contains(c.node.Floats("std"), 0) {
		return fmt.Errorf("attribute std contains 0")
	}
	return c.yield(Rows, tensor.F32, t.Shape[2], t.Shape[0], t.Shape[1])
}

func (c *inference) float(i int) (Type, error) {
	t := c.in(i)
	if t.DType != tensor.F32 && t.DType != tensor.F64 {
		return t, fmt.Errorf("operand %d is %v, want f32 or f64", i, t)
	}
	return t, nil
}

func inferUnary(c *inference) error {
	t, err := c.float(0)
	if err != nil {
		return err
	}
	return c.yield(t.Kind, t.DType, t.Shape...)
}

func inferBinary(c *inference) error {
	a, err := c.float(0)
	if err != nil {
		return err
	}
	b, err := c.float(1)
	if err != nil {
		return err
	}
	if a.DType != b.DType {
		return fmt.Errorf("operands are %v and %v, want one type", a, b)
	}
	shape, err := Broadcast(a.Shape, b.Shape)
	if err != nil {
		return err
	}
	return c.yield(max(a.Kind, b.Kind), a.DType, shape...)
}

// Broadcast returns the shape that a and b broadcast to, aligned at the last axis.
func Broadcast(a, b []int) ([]int, error) {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	for i := range b {
		switch x, y := &out[len(a)-len(b)+i], b[i]; {
		case *x == 1:
			*x = y
		case y != 1 && y != *x:
			return nil, fmt.Errorf("shapes %v and %v do not broadcast", a, b)
		}
	}
	return out, nil
}

func inferPrelu(c *inference) error {
	x, channels, err := c.channels(0)
	if err := cmp.Or(err, c.want(1, Whole, tensor.F32, []int{channels})); err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, x...)
}

func inferPreluGradInput(c *inference) error {
	x, channels, err := c.channels(0)
	if err := cmp.Or(err, c.want(1, Whole, tensor.F32, []int{channels}),
		c.want(2, Rows, tensor.F32, x)); err != nil {
		return err
	}
	return c.yield(Rows, tensor.F32, x...)
}

func inferPreluGradSlope(c *inference) error {
	x, channels, err := c.channels(0)
	if err := cmp.Or(err, c.want(1, Rows, tensor.F32, x)); err != nil {
		return err
	}
	return c.yield(Replica, tensor.F32, channels)
}

// Differentiable activations, for ActivationGrad.
var activations = []Op{Relu, Relu6, LeakyRelu, Elu, Sigmoid, HardSigmoid, Silu, HardSwish, Tanh, Softplus,
	Clip, Erf, Gelu, GeluTanh, Mish}

// ActivationNamed returns the activation that the attribute "of" of
// ActivationGrad names.
func ActivationNamed(name string) (Op, error) {
	for _, o := range activations {
		if o.String() == name {
			return o, nil
		}
	}
	return 0, fmt.Errorf("%q is not an activation with a derivative", name)
}

// SavesResult reports whether the derivative of activation o is computed from
// its result; otherwise it is computed from its operand.
func SavesResult(o Op) bool { return o == Relu || o == Relu6 || o == Sigmoid || o == Tanh }

// inferActivation does the same as inferUnary, for f32 only.
func inferActivation(c *inference) error {
	if t := c.in(0); t.DType != tensor.F32 {
		return fmt.Errorf("operand 0 is %v, want f32", t)
	}
	return inferUnary(c)
}

func inferActivationGrad(c *inference) error {
	if _, err := ActivationNamed(c.node.Text("of")); err != nil {
		return err
	}
	t := c.in(0)
	if err := c.want(1, t.Kind, tensor.F32, t.Shape); err != nil {
		return err
	}
	return inferActivation(c)
}

func inferSoftmax(c *inference) error {
	t := c.in(0)
	if a := c.node.Int("axis"); t.DType != tensor.F32 || a < 0 || a >= len(t.Shape) {
		return fmt.Errorf("operand 0 is %v, want f32 with an axis %d", t, a)
	}
	if c.has(1) {
		if err := c.want(1, t.Kind, tensor.F32, t.Shape); err != nil {
			return err
		}
	}
	return c.yield(t.Kind, t.DType, t.Shape...)
}

func inferReduce(c *inference) error {
	t, err := c.float(0)
	if err != nil {
		return err
	}
	axes, keep := c.node.Ints("axes"), c.node.Bool("keep")
	if len(axes) == 0 || !slices.IsSorted(axes) || len(slices.Compact(slices.Clone(axes))) != len(axes) ||
		axes[0] < 0 || axes[len(axes)-1] >= len(t.Shape) {
		return fmt.Errorf("attribute axes is %v, want increasing axes of shape %v", axes, t.Shape)
	}
	var shape []int
	for i, n := range t.Shape {
		switch {
		case !slices.Contains(axes, i):
			shape = append(shape, n)
		case keep:
			shape = append(shape, 1)
		}
	}
	return c.yield(t.Kind, t.DType, shape...)
}

func inferBroadcastTo(c *inference) error {
	t, err := c.float(0)
	if err != nil {
		return err
	}
	want := c.node.Ints("shape")
	got, err := Broadcast(t.Shape, want)
	if err != nil || !slices.Equal(got, want) {
		return fmt.Errorf("shape %v does not broadcast to %v", t.Shape, want)
	}
	return c.yield(t.Kind, t.DType, want...)
}

func inferSumRows(c *inference) error {
	t, err := c.float(0)
	if err != nil {
		return err
	}
	if t.Kind != Rows {
		return fmt.Errorf("operand 0 is %v, want rows", t)
	}
	return c.yield(Replica, t.DType, t.Shape...)
}

func inferChannelSum(c *inference) error {
	_, channels, err := c.channels(0)
	if err != nil {
		return err
	}
	return c.yield(Replica, tensor.F32, channels)
}
