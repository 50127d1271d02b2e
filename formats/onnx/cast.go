package onnx

import (
	"fmt"
	"maps"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		// saturate only affects 8-bit floats, which are refused
		"Cast": {attributes: accept(1, "to", "saturate"),
			refused: "of floats to integers other than int32 and int64, unless a Clip keeps them within " +
				"those; to integers that may not have the number", make: cast, fold: fold.One(fold.Cast),
			batch: batchaxis.Same, bytes: sameBytes, grows: growAlone,
			traits: followsArgMax | preparesInput},
	})
}

// cast returns floats unchanged, whatever their width: values of the graph are f32. A truth value is 1
// if the number is not 0. An integer is the number without its fraction.
func cast(c *call) []node.Value {
	d, err := onnxpb.DType(int32(c.Int("to", 0)))
	if err != nil {
		c.Fail("%w", err)
		return nil
	}
	return castValue(c, d)
}

func castValue(c *call, d tensor.DType) []node.Value {
	switch {
	case d == tensor.Bool:
		return truth(c)
	case d == tensor.I32 && c.In[0].HoldsIntegers() && c.In[0].Kind != d && !c.Known(c.In[0]).Fits(d):
		failToType(c, d)
		return nil
	case d == tensor.I32 || d == tensor.I64:
		return truncateTo(c, d)
	}
	if x := c.In[0]; x.HoldsIntegers() && x.Kind == d { // PyTorch writes this after a QuantizeLinear
		return same(c)
	}
	if within := c.Known(c.In[0]); within.Fits(d) { // the same numbers in another type
		out := same(c)
		out[0].SetIntegers()
		out[0].Kind, out[0].Within = d, within
		return out
	}
	if !element.IsFloat(d) && !c.In[0].HoldsIntegers() && c.In[0].Within.Whole().Fits(d) {
		return truncateTo(c, d)
	}
	if !element.IsFloat(d) {
		failToType(c, d)
	}
	noteNarrower(c, d)
	out := same(c)
	out[0].Elements = node.Floats
	return out
}

// truncateTo converts operand 0 to integers of a type.
func truncateTo(c *call, d tensor.DType) []node.Value {
	if c.Dynamic(0); c.Err != nil || c.In[0].HoldsIntegers() || c.In[0].HoldsTruths() {
		out := same(c)
		if out[0].SetIntegers(); !out[0].HoldsBytes() {
			out[0].Kind = d
		}
		if c.Err == nil && c.In[0].HoldsTruths() {
			out[0].Within = &node.Extent{Least: 0, Most: 1}
		}
		return out
	}
	x, of := c.Dynamic(0), c.In[0].Within
	up := c.node(graph.Round, ".up", []graph.Value{x}, "mode", "ceil")
	down := c.node(graph.Round, ".down", []graph.Value{x}, "mode", "floor")
	negative := c.compare(".negative", "less", x, c.number("zero", 0))
	out := c.integerRows(c.node(graph.Where, "", []graph.Value{negative, up, down}))
	out[0].Kind, out[0].Within = d, of.Whole()
	return out
}

// failToType refuses a cast to a type of integers that cannot represent
// all values of the operand.
func failToType(c *call, d tensor.DType) {
	c.Fail("of values to %v is not supported, unless a Clip before it keeps them within that type", d)
}

// noteNarrower records a cast to another type of floats. Other programs compute in that
// type from there on.
func noteNarrower(c *call, d tensor.DType) {
	if d == tensor.F32 || c.Known(c.In[0]) != nil {
		return
	}
	if c.otherFloats == nil {
		c.otherFloats = map[tensor.DType][]string{}
	}
	c.otherFloats[d] = append(c.otherFloats[d], c.Proto.Output[0])
}

// findOtherFloats reports the nodes that cast to floats other than f32.
func (r *reader) findOtherFloats() {
	for _, d := range slices.Sorted(maps.Keys(r.otherFloats)) {
		nodes := r.otherFloats[d]
		text := fmt.Sprintf("a Cast to %v; here what follows is computed in f32", d)
		if n := len(nodes); n > 1 {
			text = fmt.Sprintf("this and %s are a Cast to %v; here what follows is computed in f32",
				problem.Plural(n-1, "other node"), d)
		}
		if d != tensor.F64 {
			text += ", and not rounded"
		}
		r.file.Find(nodes[0], text, "")
	}
}

// findStoredType returns the type of operand i in the file. Constants in half precision are f32 in the
// graph, so their type must be looked up.
func findStoredType(c *call, i int) tensor.DType {
	for _, p := range c.src.Initializer {
		if d, err := onnxpb.DType(p.DataType); err == nil && p.Name == c.Proto.Input[i] {
			return d
		}
	}
	for _, n := range c.src.Node {
		if n.OpType == "Constant" && n.Output[0] == c.Proto.Input[i] {
			for _, a := range n.Attribute {
				if d, err := onnxpb.DType(a.GetT().GetDataType()); err == nil && a.Name == "value" {
					return d
				}
			}
		}
	}
	return c.In[i].DType()
}
