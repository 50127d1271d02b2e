package protocol

import "github.com/bnctl/bnctl/tensor"

// Bytes is the protocol's datatype for strings. Package tensor does not have this type.
const Bytes = "BYTES"

// datatypes are the names that the protocol uses for types of elements.
var datatypes = map[tensor.DType]string{
	tensor.Bool: "BOOL", tensor.U8: "UINT8", tensor.U16: "UINT16", tensor.U32: "UINT32", tensor.U64: "UINT64",
	tensor.I8: "INT8", tensor.I16: "INT16", tensor.I32: "INT32", tensor.I64: "INT64",
	tensor.F16: "FP16", tensor.BF16: "BF16", tensor.F32: "FP32", tensor.F64: "FP64",
}

// Datatype returns the protocol's name of a type: "FP32".
func Datatype(d tensor.DType) string { return datatypes[d] }

// dtypeOf returns the type with the given name in the protocol, and whether there is such a type.
func dtypeOf(name string) (tensor.DType, bool) {
	for d, n := range datatypes {
		if n == name {
			return d, true
		}
	}
	return 0, false
}
