package onnx

import (
	"slices"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// Weights in the branches of an If with a computed condition are tensors of the file, as in
// voice activity detectors for two sample rates. Both branches may use one name.
func TestWeightsOfBranches(t *testing.T) {
	weight := func(name string, v float32) *onnxpb.TensorProto {
		return &onnxpb.TensorProto{Name: name, DataType: int32(onnxpb.TensorProto_FLOAT), Dims: []int64{2},
			FloatData: []float32{v, v + 1}}
	}
	n := branches("x", "y", op("Add", "x w", "t"), op("Mul", "x w", "e"))
	for i, name := range []string{"w", "w"} {
		n.Attribute[i].G.Initializer = []*onnxpb.TensorProto{weight(name, float32(i))}
	}
	inner := branches("x", "e", op("Add", "x v", "p"), op("Mul", "x v", "q"))
	inner.Attribute[0].G.Initializer = []*onnxpb.TensorProto{weight("v", 7)}
	n.Attribute[1].G.Node = append(n.Attribute[1].G.Node, inner)
	file := readTensors(t, modelOf(13, 0, []int64{2}, nil, n))
	var names []string
	for _, tensor := range file.Tensors {
		names = append(names, tensor.Name)
	}
	if want := []string{"w", "y.else_branch.w", "v"}; !slices.Equal(names, want) {
		t.Fatalf("tensors are %v, want %v", names, want)
	}
	got, err := file.Tensors[1].Load()
	if err != nil || !slices.Equal(got.F32(), []float32{1, 2}) {
		t.Errorf("the weight of the second branch is %v, %v", got, err)
	}
}

// The weights of a branch that a constant condition picks are listed, and read again for the model.
func TestWeightsOfThePickedBranch(t *testing.T) {
	n := branches("c", "y", op("Add", "x w", "t"), op("Relu", "x", "e"))
	n.Attribute[0].G.Initializer = []*onnxpb.TensorProto{{Name: "w", Dims: []int64{2},
		DataType: int32(onnxpb.TensorProto_FLOAT), FloatData: []float32{3, 4}}}
	n.Attribute[0].G.Node = nodes{floatsConstant("k", 5, 6), op("Mul", "x k", "u"), op("Add", "u w", "t")}
	file := readModel(t, modelOf(13, 0, []int64{2}, nil, alwaysTrue("c"), n))
	if file.NoModel != nil {
		t.Fatal(file.NoModel)
	}
	var names []string
	for _, tensor := range file.Tensors {
		names = append(names, tensor.Name)
	}
	if want := []string{"w", "k"}; !slices.Equal(names, want) {
		t.Errorf("tensors are %v, want %v", names, want)
	}
}

// floatsConstant returns a Constant of floats as a tensor.
func floatsConstant(name string, v ...float32) *onnxpb.NodeProto {
	return constantOf(name, &onnxpb.TensorProto{DataType: int32(onnxpb.TensorProto_FLOAT),
		Dims: []int64{int64(len(v))}, FloatData: v})
}

// alwaysTrue returns a Constant that is true.
func alwaysTrue(name string) *onnxpb.NodeProto {
	return constantOf(name, &onnxpb.TensorProto{DataType: int32(onnxpb.TensorProto_BOOL), Int32Data: []int32{1}})
}

func constantOf(name string, t *onnxpb.TensorProto) *onnxpb.NodeProto {
	return op("Constant", "", name, &onnxpb.AttributeProto{Name: "value", T: t,
		Type: onnxpb.AttributeProto_TENSOR})
}
