package onnx

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"Gather": {attributes: accept(2, "axis"),
			refused: "indices that come from the input, but of a constant table and axis 0",
			make:    gathers,
			fold:    fold.One(fold.Gather), batch: batchaxis.Gathered, integers: move | keepBounds,
			bytes: gathersBytes, grows: growPair(growFirst),
			traits: hasSettings | onWeights | preparesInput},
		"QuantizeLinear": {attributes: accept(3, "axis block_size output_dtype", "saturate"),
			refused: "block_size", make: quantizeLinear, fold: fold.One(fold.Quantize), batch: batchaxis.Quantised},
		"DequantizeLinear": {attributes: accept(3, "axis block_size"), refused: "block_size",
			make: oneResult(dequantizeLinear), fold: fold.One(fold.Dequantize), batch: batchaxis.Quantised,
			bytes: oneScale},
	})
}

// Where package qdq changes nothing, the standard's rule holds: values are f32 between a
// DequantizeLinear and the next QuantizeLinear. Bytes with one scale are bytes of the graph, which are
// u8. Bytes of i8 and their zero point are stored with 128 added. This changes no result: x/scale is
// rounded, and both bounds are shifted too. All other integers are stored as the same numbers in f32.

// shift is the number added to integers of a type to make them u8 of the graph.
var shift = map[tensor.DType]int{tensor.U8: 0, tensor.I8: 128}

// unpackBytes converts operands that are bytes of the graph to f32, for an operator that
// does not accept bytes.
func (c *call) unpackBytes(op string) {
	o := table[op]
	if o.make == nil || o.bytes != nil && o.bytes(c) {
		return
	}
	for i, x := range c.In {
		if x.HoldsBytes() {
			c.In[i] = unpackValue(c, x, ".integers")
		}
	}
}

// anyBytes accepts bytes with any scales, for operators that only move them.
func anyBytes(*call) bool { return true }

// oneScale reports whether a DequantizeLinear has one scale for all
// elements.
func oneScale(c *call) bool { return !c.ScalesAxis() }

// sameBytes reports whether a Cast changes no number.
func sameBytes(c *call) bool {
	d, err := onnxpb.DType(int32(c.Int("to", 0)))
	wider := c.In[0].Kind == tensor.U8 && (d == tensor.I32 || d == tensor.I64)
	return err == nil && (wider || d == c.In[0].Kind)
}

// nearestBytes reports whether a Resize only moves pixels. If it crops, it may insert another number.
func nearestBytes(c *call) bool {
	return c.moves(c.Proto.OpType) && c.Text("coordinate_transformation_mode", "half_pixel") != cropping
}

// gathersBytes reports whether a Gather picks from bytes, or from a table with bytes as indices.
func gathersBytes(c *call) bool { return c.In[0].HoldsBytes() || looksUp(c) }

// withoutDilations reports whether a MaxPool has no dilations. With dilations it is built
// from other operations.
func withoutDilations(c *call) bool {
	a := c.Attribute("dilations")
	return a == nil || !slices.ContainsFunc(a.Ints, func(n int64) bool { return n != 1 })
}

// alikeBytes reports whether all operands are bytes of the same type.
func alikeBytes(c *call) bool {
	return !slices.ContainsFunc(c.In, func(x node.Value) bool {
		return !x.HoldsBytes() ||
			x.Kind != c.In[0].Kind
	})
}

// looksUp reports whether a Gather picks from a table of bytes with bytes as indices.
func looksUp(c *call) bool {
	x := c.In[0]
	return len(c.In) == 2 && x.IsConstant() && c.Has(0) && x.Tensor.DType == tensor.U8 &&
		slices.Equal(x.Tensor.Shape, []int{256}) && c.In[1].HoldsBytes() && c.In[1].Kind == tensor.U8
}

// gathers reads a Gather of values, or of bytes from a table.
func gathers(c *call) []node.Value {
	if !looksUp(c) {
		return []node.Value{node.Rows(gather(c))}
	}
	table := c.declare(c.Proto.Input[0], graph.Constant, c.In[0].Tensor)
	return []node.Value{bytesOf(c.node(graph.TableInt8, "", []graph.Value{c.In[1].V, table}), tensor.U8)}
}

// unpackValue converts bytes of the graph to the integers of the file, in f32.
func unpackValue(c *call, x node.Value, suffix string) node.Value {
	x.V = c.node(graph.Dequantize, suffix, []graph.Value{x.V}, "scale", 1.0, "zero", shift[x.Kind])
	x.Elements = node.Integers
	return x
}

// quantizeLinear computes x/scale, rounded to the nearest integer with ties to even, plus the zero
// point, clamped to the range of the type.
func quantizeLinear(c *call) []node.Value {
	x, q := c.Dynamic(0), fold.ReadQuantisation(&c.Node, tensor.U8)
	if c.Err != nil || !checkUsable(c, q) {
		return nil
	}
	out := node.Value{Logits: graph.None, Elements: node.Integers, Kind: q.D}
	if more, ok := shift[q.D]; ok && len(q.Scale) == 1 {
		out.Elements = node.Bytes
		out.V = c.node(graph.Quantize, "", []graph.Value{x}, "scale", shortest(float64(q.Scale[0])),
			"zero", int(q.Zero[0])+more)
		return []node.Value{out}
	}
	steps := c.node(graph.Div, ".steps", []graph.Value{x, declarePerIndex(c, "scale", q, q.Scale)})
	v := c.node(graph.Round, ".round", []graph.Value{steps}, "mode", "even")
	if zero := q.Zeros(); slices.ContainsFunc(zero, func(z float32) bool { return z != 0 }) {
		v = c.node(graph.Add, ".moved", []graph.Value{v, declarePerIndex(c, "zero", q, zero)})
	}
	out.V = c.node(graph.Clip, "", []graph.Value{v}, "min", float64(q.Least), "max", float64(q.Most))
	return []node.Value{out}
}

// dequantizeLinear computes scale*(q - zero). The difference is exact, and the product is rounded once.
func dequantizeLinear(c *call) graph.Value {
	c.Dynamic(0)
	x, q := c.In[0], fold.ReadQuantisation(&c.Node, tensor.U8)
	if c.Err != nil || !checkUsable(c, q) {
		return graph.None
	}
	if !x.HoldsIntegers() {
		c.Fail("of %v is not supported, only of integers", tensor.F32)
		return graph.None
	}
	if c.Has(2) && x.Kind != 0 && q.D != x.Kind {
		c.Fail("of %v with a zero point of %v", x.Kind, q.D)
		return graph.None
	}
	if x.HoldsBytes() {
		return c.node(graph.Dequantize, "", []graph.Value{x.V}, "scale", shortest(float64(q.Scale[0])),
			"zero", int(q.Zero[0])+shift[x.Kind])
	}
	v := x.V
	if zero := q.Zeros(); slices.ContainsFunc(zero, func(z float32) bool { return z != 0 }) {
		v = c.node(graph.Sub, ".centred", []graph.Value{v, declarePerIndex(c, "zero", q, zero)})
	}
	return c.node(graph.Mul, "", []graph.Value{v, declarePerIndex(c, "scale", q, q.Scale)})
}

// checkUsable refuses scales that are subnormal or not positive, and integers that f32
// cannot represent.
func checkUsable(c *call, q fold.Quantisation) bool {
	if q.D == tensor.I32 && slices.ContainsFunc(q.Zero, func(z int64) bool { return z != 0 }) {
		c.Fail("with a zero point of %v is not supported for what comes from the input", q.D)
	}
	if q.D == tensor.I32 && c.Proto.OpType == "QuantizeLinear" {
		c.Fail("to %v is not supported", q.D)
	}
	for _, s := range q.Scale {
		if !(s >= 0x1p-126 && s <= math.MaxFloat32) {
			c.Fail("with a scale of %g; a positive number that is not subnormal is supported", s)
		}
	}
	return c.Err == nil
}

// declarePerIndex declares a scale or a zero point of operand 0: one number, or one for each
// index of an axis.
func declarePerIndex(c *call, name string, q fold.Quantisation, v []float32) graph.Value {
	shape := []int{}
	if len(v) > 1 {
		shape = slices.Repeat([]int{1}, len(c.Shape(0))-q.Axis)
		shape[0] = len(v)
	}
	return c.declare(c.name+"."+name, graph.Constant, tensor.Of(v, shape...))
}
