package decode

import (
	"fmt"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Constant returns the value of a Constant node under the name of its result. ok is false if
// the value is text.
func (d *Decoder) Constant(n *onnxpb.NodeProto, ext *External) (t foreign.Tensor, ok bool, err error) {
	name := n.Output[0]
	inMemory := func(t tensor.Tensor) (foreign.Tensor, bool, error) {
		return foreign.InMemory(name, t), true, nil
	}
	for _, a := range n.Attribute {
		switch a.Name {
		case "value":
			if a.T == nil {
				return t, false, fmt.Errorf("attribute value is not a tensor")
			}
			if a.T.DataType == int32(onnxpb.TensorProto_STRING) {
				return t, false, nil
			}
			a.T.Name = name
			t, err = d.Initializer(a.T, ext)
			return t, err == nil, err
		case "value_float":
			return inMemory(tensor.Scalar(a.GetF()))
		case "value_int":
			return inMemory(tensor.Scalar(a.GetI()))
		case "value_floats":
			return inMemory(tensor.Of(a.Floats, len(a.Floats)))
		case "value_ints":
			return inMemory(tensor.Of(a.Ints, len(a.Ints)))
		case "value_string", "value_strings":
			return t, false, nil
		case "sparse_value":
			return t, false, problem.Advise("write it dense", "its value is sparse (sparse_value)")
		}
	}
	return t, false, fmt.Errorf("has no value")
}
