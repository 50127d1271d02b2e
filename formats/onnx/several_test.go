package onnx

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// TestSeveralInputs compares models with several inputs with the outputs of ONNX Runtime, which
// testdata/make_several.py stored, and compares them again after they were written and read.
func TestSeveralInputs(t *testing.T) {
	files, err := filepath.Glob("testdata/several/*.onnx")
	if err != nil || len(files) < 9 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, path := range files {
		m, err := opened(path)
		if err != nil {
			t.Error(err)
			continue
		}
		arrays := severalArrays(t, path)
		compareSeveral(t, path, m, arrays)
		var b bytes.Buffer
		if err := Write(&b, m); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		f, err := ReadFrom(bytes.NewReader(b.Bytes()), int64(b.Len()), Options{})
		if err != nil || f.NoModel != nil {
			t.Errorf("%s: written and read: %v, %v", path, err, f.NoModel)
			continue
		}
		if !slices.EqualFunc(f.Model.Fields, m.Fields, sameField) {
			t.Errorf("%s: written and read, the inputs are %v, want %v", path, f.Model.Fields, m.Fields)
			continue
		}
		compareSeveral(t, path+", written and read", f.Model, arrays)
	}
}

func sameField(a, b models.Field) bool {
	return a.Name == b.Name && a.DType == b.DType && slices.Equal(a.Shape, b.Shape)
}

func severalArrays(t *testing.T, path string) map[string]tensor.Tensor {
	t.Helper()
	all, err := data.ReadNPZFile(strings.TrimSuffix(path, ".onnx")+".npz", nil)
	if err != nil {
		t.Fatal(err)
	}
	arrays := map[string]tensor.Tensor{}
	for _, n := range all {
		arrays[n.Name] = n.Array
	}
	return arrays
}

// compareSeveral compares the outputs of m for the inputs in arrays with the expected
// outputs, which arrays has under "=NAME".
func compareSeveral(t *testing.T, what string, m *models.Model, arrays map[string]tensor.Tensor) {
	t.Helper()
	var fields []tensor.Tensor
	for _, p := range m.Fields {
		fields = append(fields, arrays[p.Name])
	}
	x, err := m.Pack(fields)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	out, err := eval(m, x)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	for i, o := range m.Graph.Main.Outputs {
		want, ok := arrays["="+o.Name]
		if !ok || want.Count() != out[i].Count() {
			t.Errorf("%s: output %s is %v, want %v", what, o.Name, out[i], want)
			continue
		}
		if d := worst(out[i], want.Reshape(out[i].Shape...)); !(d <= 2e-6) {
			t.Errorf("%s: output %s differs by %g", what, o.Name, d)
		}
	}
}

// TestSeveralOpenInputs gives sizes to inputs that leave lengths open.
func TestSeveralOpenInputs(t *testing.T) {
	for _, c := range []struct {
		a, b   []string // lengths of two inputs; a name or "" leaves a length open
		given  []int
		named  map[string][]int
		want   [][]int
		wanted string
	}{
		{[]string{"N", "4"}, []string{"N", "4"}, nil, nil, [][]int{{4}, {4}}, ""},
		{[]string{"N", "L"}, []string{"N", "L"}, []int{6}, nil, [][]int{{6}, {6}}, ""},
		{[]string{"N", "L"}, []string{"N", "L"}, nil, map[string][]int{"b": {5}}, [][]int{{5}, {5}}, ""},
		{[]string{"N", "L"}, []string{"N", "4"}, nil, nil, nil,
			`the size of inputs is open: "a" is ["L"]; say it with input a=224`},
		{[]string{"N", "L"}, []string{"N", "4"}, nil, map[string][]int{"c": {4}}, nil,
			`input gives a size for "c", and the inputs are a ["N","L"], b ["N",4]`},
		{[]string{"N", "L"}, []string{"N", "4"}, nil, map[string][]int{"a": {4}, "b": {5}}, nil,
			`input "b": its size is [4], which input 5 does not fit`},
		{[]string{"N", "4"}, []string{"N", "0"}, nil, nil, nil, `"b" is [?]`},
		{[]string{"5", "L"}, []string{"3", "K"}, nil, nil, nil,
			`the inputs have no batch in common: a [5,"L"], b [3,"K"]; export the model with a batch of 1 in front`},
	} {
		b := twoInputs(t, c.a, c.b)
		f, err := ReadFrom(bytes.NewReader(b), int64(len(b)), Options{Input: c.given, Inputs: c.named})
		if err != nil {
			t.Fatal(err)
		}
		if c.wanted != "" {
			if f.NoModel == nil || !strings.Contains(f.NoModel.Error(), c.wanted) {
				t.Errorf("%v and %v: got error %v, want %q", c.a, c.b, f.NoModel, c.wanted)
			}
			continue
		}
		if f.NoModel != nil {
			t.Errorf("%v and %v: %v", c.a, c.b, f.NoModel)
			continue
		}
		for i, p := range f.Model.Fields {
			if !slices.Equal(p.Shape, c.want[i]) {
				t.Errorf("%v and %v: input %s is %v, want %v", c.a, c.b, p.Name, p.Shape, c.want[i])
			}
		}
	}
}

// twoInputs returns a model that adds its inputs a and b.
func twoInputs(t *testing.T, a, b []string) []byte {
	t.Helper()
	input := func(name string, lengths []string) *onnxpb.ValueInfoProto {
		shape := &onnxpb.TensorShapeProto{}
		for _, l := range lengths {
			d := &onnxpb.TensorShapeProto_Dimension{DimParam: proto.String(l)}
			if l[0] >= '0' && l[0] <= '9' {
				d = &onnxpb.TensorShapeProto_Dimension{DimValue: proto.Int64(int64(l[0] - '0'))}
			}
			shape.Dim = append(shape.Dim, d)
		}
		return &onnxpb.ValueInfoProto{Name: name, Type: &onnxpb.TypeProto{TensorType: &onnxpb.TypeProto_Tensor{
			ElemType: int32(onnxpb.TensorProto_FLOAT), Shape: shape}}}
	}
	m := &onnxpb.ModelProto{IrVersion: 8, OpsetImport: []*onnxpb.OperatorSetIdProto{{Version: 13}},
		Graph: &onnxpb.GraphProto{Name: "g", Input: []*onnxpb.ValueInfoProto{input("a", a), input("b", b)},
			Node:   []*onnxpb.NodeProto{{OpType: "Add", Input: []string{"a", "b"}, Output: []string{"y"}}},
			Output: []*onnxpb.ValueInfoProto{{Name: "y"}}}}
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
