package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// If as_strided is exported as a loop, PyTorch converts lengths to floats, joins them, and converts the
// list back before it is used as a shape. In this package these lists remain integers.

// takesLengths reports whether a node converts the length of the batch to floats, or reads
// the result.
func takesLengths(c *call, op string) bool {
	if slices.ContainsFunc(c.In, node.Value.IsLengths) {
		return true
	}
	if op != "Cast" || !c.Tracked() || len(c.In) != 1 || !c.In[0].IsConstant() || !c.In[0].HasLength() {
		return false
	}
	d, err := onnxpb.DType(int32(c.Int("to", 0)))
	return err == nil && d == tensor.F32
}

// joinLengths reads a node for which takesLengths is true.
func joinLengths(c *call, op string) error {
	if err := table[op].attributes.Check(&c.Node); err != nil {
		return err
	}
	switch d, err := onnxpb.DType(int32(c.Int("to", 0))); {
	case op == "Cast" && err == nil && d == tensor.I64 && c.In[0].IsLengths():
		return c.store(op, []node.Value{node.Constant(c.In[0].Tensor)})
	case op == "Cast" && err == nil && d == tensor.F32 && !c.In[0].IsLengths():
		return c.store(op, []node.Value{node.FloatLengths(fold.CastTo(&c.Node, c.In[0].Tensor, tensor.I64))})
	case op == "Concat" && c.Int("axis", 1) == 0:
		return joinLists(c)
	}
	return node.ErrLength
}

// joinLists reads a Concat of lists of lengths and constants.
func joinLists(c *call) error {
	var all []int64
	for _, x := range c.In {
		if !x.IsLengths() && !x.IsConstant() || len(x.Tensor.Shape) != 1 {
			return node.ErrLength
		}
		if x.IsLengths() {
			all = append(all, x.Tensor.I64()...)
			continue
		}
		at, err := element.Reals(x.Tensor)
		if err != nil {
			return node.ErrLength
		}
		for k := range x.Tensor.Count() {
			v := at(k)
			if !(v >= 0 && v < 1<<24) || v != float64(int64(v)) {
				return node.ErrLength
			}
			all = append(all, int64(v))
		}
	}
	return c.store("Concat", []node.Value{node.FloatLengths(tensor.Of(all, len(all)))})
}
