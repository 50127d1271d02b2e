package onnxpb

import (
	"fmt"

	"github.com/bnctl/bnctl/tensor"
)

// dtypes maps the numbers of types in ONNX to types of tensors.
var dtypes = map[TensorProto_DataType]tensor.DType{
	TensorProto_FLOAT: tensor.F32, TensorProto_DOUBLE: tensor.F64,
	TensorProto_FLOAT16: tensor.F16, TensorProto_BFLOAT16: tensor.BF16,
	TensorProto_INT8: tensor.I8, TensorProto_INT16: tensor.I16,
	TensorProto_INT32: tensor.I32, TensorProto_INT64: tensor.I64,
	TensorProto_UINT8: tensor.U8, TensorProto_UINT16: tensor.U16,
	TensorProto_UINT32: tensor.U32, TensorProto_UINT64: tensor.U64,
	TensorProto_BOOL: tensor.Bool,
}

// DType returns the type of a number of ONNX, or an error that names it.
func DType(number int32) (tensor.DType, error) {
	d, ok := dtypes[TensorProto_DataType(number)]
	if !ok {
		return 0, fmt.Errorf("data of the type %v is not supported", TensorProto_DataType(number))
	}
	return d, nil
}

// Number returns the number of a type in ONNX.
func Number(d tensor.DType) TensorProto_DataType {
	for n, have := range dtypes {
		if have == d {
			return n
		}
	}
	return TensorProto_UNDEFINED
}
