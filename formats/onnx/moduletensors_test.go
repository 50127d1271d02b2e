package onnx

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// Tensors without a model have the names, forms and types of the state dict. This one is of
// a linear layer in half precision that is called twice: the exporter transposed its weight
// for each call.
func TestModuleTensors(t *testing.T) {
	half := func(name string, dims []int64, raw ...byte) *onnxpb.TensorProto {
		return &onnxpb.TensorProto{Name: name, DataType: int32(onnxpb.TensorProto_FLOAT16), Dims: dims,
			RawData: raw}
	}
	weight := []byte{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0} // 2 x 3
	first, second := op("MatMul", "x onnx::MatMul_5", "a"), op("MatMul", "c onnx::MatMul_6", "d")
	first.Name, second.Name = "/fc/MatMul", "/fc_1/MatMul"
	m := modelOf(13, 0, []int64{2}, nil, first, op("Add", "a fc.bias", "b"),
		op("Slice", "b from to", "c"), second, op("Add", "d fc.bias", "y"))
	m.ProducerName = "pytorch"
	m.Graph.Initializer = append(m.Graph.Initializer, half("onnx::MatMul_5", []int64{2, 3}, weight...),
		half("onnx::MatMul_6", []int64{2, 3}, weight...), half("fc.bias", []int64{3}, 0, 0, 0, 0, 0, 0))
	file := readTensors(t, m)
	var all []string
	for _, tensor := range file.Tensors {
		all = append(all, tensor.String())
	}
	if want := []string{"fc.weight f16[3,2]", "fc.bias f16[3]"}; !slices.Equal(all, want) {
		t.Fatalf("%q, want %q", all, want)
	}
	got, err := file.Tensors[0].Load()
	if want := []byte{1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6, 0}; err != nil || !slices.Equal(got.Bytes, want) {
		t.Errorf("the weight is %v, %v, want its transpose %v", got.Bytes, err, want)
	}
	if got := fmt.Sprint(file.Left); !strings.Contains(got, "onnx::MatMul_6 a copy of fc.weight") {
		t.Errorf("left out: %s", got)
	}
}
