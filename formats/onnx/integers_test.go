package onnx

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// TestIntegerInputs: a file may move integers and convert them to floats, but not compute
// with them.
func TestIntegerInputs(t *testing.T) {
	toFloat := intAttr("to", int(onnxpb.TensorProto_FLOAT))
	for _, c := range []struct {
		name  string
		kind  onnxpb.TensorProto_DataType
		shape []int64
		nodes []*onnxpb.NodeProto
		want  string
		input tensor.DType
	}{
		{"cast", onnxpb.TensorProto_INT64, []int64{2}, nodes{op("Cast", "x", "f", toFloat),
			op("Relu", "f", "y")}, "", tensor.F32},
		{"moved and cast", onnxpb.TensorProto_INT32, []int64{2, 3}, nodes{op("Transpose", "x", "t",
			list64("perm", 0, 2, 1)), op("Cast", "t", "y", toFloat)}, "", tensor.F32},
		{"pixels", onnxpb.TensorProto_UINT8, []int64{4, 5, 3}, nodes{op("Cast", "x", "f", toFloat),
			op("Transpose", "f", "y", list64("perm", 0, 3, 1, 2))}, "", tensor.U8},
		{"pixels, channels first", onnxpb.TensorProto_UINT8, []int64{3, 4, 5}, nodes{op("Cast", "x", "y",
			toFloat)}, "", tensor.U8},
		{"no pixels", onnxpb.TensorProto_UINT8, []int64{7}, nodes{op("Cast", "x", "y", toFloat)}, "", tensor.F32},
		{"added", onnxpb.TensorProto_UINT8, []int64{2}, nodes{op("Add", "x x", "y")},
			"(Add y): of integers that come", 0},
		{"moved and added", onnxpb.TensorProto_INT16, []int64{2}, nodes{op("Flatten", "x", "t"),
			op("Add", "t t", "y")},
			"(Add y): of integers that come", 0},
		{"truth", onnxpb.TensorProto_BOOL, []int64{2}, nodes{op("Cast", "x", "y", toFloat)}, "its type is bool", 0},
	} {
		m := modelOf(13, 0, c.shape, nil, c.nodes...)
		m.Graph.Input[0].Type.TensorType.ElemType = int32(c.kind)
		f := readModel(t, m)
		switch {
		case c.want != "":
			if f.NoModel == nil || !strings.Contains(f.NoModel.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.name, f.NoModel, c.want)
			}
		case f.NoModel != nil:
			t.Errorf("%s: %v", c.name, f.NoModel)
		case f.Model.Input().DType != c.input:
			t.Errorf("%s: the input is %v, want %v", c.name, f.Model.Input(), c.input)
		}
	}
}

// TestPixelsOfItsOwn: if the file casts, divides and transposes images itself, the model's
// input has the order of axes that the file declares.
func TestPixelsOfItsOwn(t *testing.T) {
	m := modelOf(13, 0, []int64{2, 2, 3}, map[string][]float32{"k": {2}},
		op("Cast", "x", "f", intAttr("to", int(onnxpb.TensorProto_FLOAT))), op("Div", "f k", "d"),
		op("Transpose", "d", "y", list64("perm", 0, 3, 1, 2)))
	m.Graph.Input[0].Type.TensorType.ElemType = int32(onnxpb.TensorProto_UINT8)
	f := readModel(t, m)
	if f.NoModel != nil {
		t.Fatal(f.NoModel)
	}
	y, err := eval(f.Model, tensor.Of([]uint8{0, 10, 255, 1, 11, 200, 2, 12, 3, 13, 4, 14}, 1, 2, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{0, 0.5, 1, 6.5, 5, 5.5, 6, 2, 127.5, 100, 1.5, 7}
	for i, v := range y[0].F64() {
		if v != want[i] {
			t.Errorf("element %d is %g, want %g", i, v, want[i])
		}
	}
}

// TestFilledWeights: weights that consist of one repeated number are counted before they
// are filled.
func TestFilledWeights(t *testing.T) {
	of := func(shape ...int64) *onnxpb.ModelProto {
		return modelOf(13, 0, []int64{shape[0]}, nil, ints("s", shape...), op("ConstantOfShape", "s", "w"),
			op("MatMul", "x w", "y"))
	}
	f := readTensors(t, of(1<<10, 1<<16)) // 256 MiB, more than a fold may use
	if w, ok := f.Tensor("w"); !ok || w.Size() != 256<<20 {
		t.Errorf("tensors %v", f.Tensors)
	}
	if _, err := readOnly(of(1<<20, 1<<20)); err == nil || !strings.Contains(err.Error(),
		"filled constants of 4194304 MiB are more than half of the") {
		t.Errorf("4 TiB: %v", err)
	}
	got := evalCounting(t, modelOf(13, 0, []int64{2}, nil, ints("s", 2, 1<<18), op("ConstantOfShape", "s", "w"),
		op("MatMul", "x w", "y")))
	if len(got) != 1<<18 || got[0] != 0 {
		t.Errorf("%d elements, %g", len(got), got[0])
	}
}
