package fold

import (
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// Func computes the results of a node from constants, or from the shape of a value, as
// Shape does. Constants keep the types of the file, except that float16 and bfloat16 become
// f32.
type Func func(*node.Node) []tensor.Tensor

// One returns the fold for a function with one result.
func One(f func(*node.Node) tensor.Tensor) Func {
	return func(c *node.Node) []tensor.Tensor { return []tensor.Tensor{f(c)} }
}

// Identity returns operand 0.
func Identity(c *node.Node) tensor.Tensor { return c.Required(0) }

// Cast converts integers to floats, and floats to integers by rounding towards zero.
func Cast(c *node.Node) tensor.Tensor {
	t := c.Required(0)
	d, err := onnxpb.DType(int32(c.Int("to", 0)))
	if c.Proto.OpType == "CastLike" {
		d, err = c.Required(1).DType, nil
	}
	if err != nil {
		c.Fail("%w", err)
	}
	if d == tensor.F16 || d == tensor.BF16 {
		d = tensor.F32
	}
	if c.Err != nil || t.DType == d {
		return t
	}
	return CastTo(c, t, d)
}

// CastTo converts the elements of a constant to another type.
func CastTo(c *node.Node, t tensor.Tensor, d tensor.DType) tensor.Tensor {
	out := c.NewConstant(d, t.Shape)
	if c.Err != nil {
		return out
	}
	if element.IsFloat(t.DType) {
		at, _ := element.Reals(t)
		for k := range t.Count() {
			setCastElement(c, out, k, at(k))
		}
		return out
	}
	at, err := element.Integers(t)
	if err != nil {
		c.Fail("%w", err)
		return out
	}
	for k := range t.Count() {
		switch v := at(k); {
		case element.IsFloat(d):
			element.SetReal(out, k, float64(c.Concrete(v)))
		case d != tensor.I64 && !(d == tensor.I32 && v < element.AnyBatch+element.MaxTimes32):
			element.SetInteger(out, k, c.Concrete(v))
		default:
			element.SetInteger(out, k, v)
		}
	}
	return out
}

// setCastElement sets element k to a float.
func setCastElement(c *node.Node, out tensor.Tensor, k int, v float64) {
	switch d := out.DType; {
	case element.IsFloat(d):
		element.SetReal(out, k, v)
	case d == tensor.Bool:
		if v != 0 {
			out.Bytes[k] = 1
		}
	case !(v >= -1<<63 && v < 1<<63):
		c.Fail("of %v to an integer has no result", v)
	default:
		element.SetInteger(out, k, int64(v))
	}
}
