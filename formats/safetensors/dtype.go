package safetensors

import (
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// names has the format's names for bnctl's types.
var names = map[tensor.DType]string{
	tensor.F32: "F32", tensor.F64: "F64", tensor.F16: "F16", tensor.BF16: "BF16",
	tensor.I8: "I8", tensor.I16: "I16", tensor.I32: "I32", tensor.I64: "I64",
	tensor.U8: "U8", tensor.U16: "U16", tensor.U32: "U32", tensor.U64: "U64", tensor.Bool: "BOOL",
}

func parseType(name string) (tensor.DType, error) {
	for d, n := range names {
		if n == name {
			return d, nil
		}
	}
	return 0, problem.Advise("convert it to F32 or BF16", "tensors of type %q are not supported", name)
}
