package torch

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// dtypes pairs bnctl's types with the names of torch's storages and types. The last three
// have no storage class: they use untyped storages.
var dtypes = []struct {
	dtype   tensor.DType
	storage string
	name    string
}{
	{tensor.F32, "FloatStorage", "float32"},
	{tensor.F64, "DoubleStorage", "float64"},
	{tensor.F16, "HalfStorage", "float16"},
	{tensor.BF16, "BFloat16Storage", "bfloat16"},
	{tensor.I8, "CharStorage", "int8"},
	{tensor.I16, "ShortStorage", "int16"},
	{tensor.I32, "IntStorage", "int32"},
	{tensor.I64, "LongStorage", "int64"},
	{tensor.U8, "ByteStorage", "uint8"},
	{tensor.Bool, "BoolStorage", "bool"},
	{tensor.U16, "", "uint16"},
	{tensor.U32, "", "uint32"},
	{tensor.U64, "", "uint64"},
}

// storageType returns the type of a storage class; 0 for an untyped storage.
func storageType(class any) (tensor.DType, error) {
	g, ok := class.(pickle.Global)
	if !ok || !strings.HasPrefix(g.Module, "torch") {
		return 0, fmt.Errorf("%s is not a class of storages", pickle.Describe(class))
	}
	if g.Name == "UntypedStorage" {
		return 0, nil
	}
	for _, d := range dtypes {
		if d.storage == g.Name && d.storage != "" {
			return d.dtype, nil
		}
	}
	if strings.HasPrefix(g.Name, "Q") {
		return 0, problem.Advise(adviceQuantised, "%v holds quantised weights, which are not read", g)
	}
	return 0, fmt.Errorf("tensors of %v are not supported", g)
}

// typeNamed returns the type for an object like torch.uint16.
func typeNamed(v any) (tensor.DType, error) {
	if g, ok := v.(pickle.Global); ok && g.Module == "torch" {
		for _, d := range dtypes {
			if d.name == g.Name {
				return d.dtype, nil
			}
		}
	}
	return 0, fmt.Errorf("tensors of type %s are not supported", pickle.Describe(v))
}
