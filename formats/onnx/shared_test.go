package onnx

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// normOf returns a batch norm of a value with the statistics of TestSharedNorms.
func normOf(from, to string) *onnxpb.NodeProto {
	return op("BatchNormalization", from+" g b m v", to)
}

// TestSharedNorms: layers that share their tensors count as one batch norm, and the model
// stores these tensors once, for every float type in the file. A batch norm that leads to
// no output does not count. Neither does another operator with five operands.
func TestSharedNorms(t *testing.T) {
	two := []float32{1, 2}
	vectors := map[string][]float32{"g": two, "b": two, "m": two, "v": two}
	double := func(m *onnxpb.ModelProto) {
		for _, i := range m.Graph.Initializer {
			i.DataType, i.FloatData, i.DoubleData = int32(onnxpb.TensorProto_DOUBLE), nil, []float64{1, 2}
		}
	}
	dead := op("BatchNormalization", "x g b m v", "unused mean", intAttr("training_mode", 1))
	for _, c := range []struct {
		name   string
		nodes  []*onnxpb.NodeProto
		change func(*onnxpb.ModelProto)
		norms  int
		states int
	}{
		{"f32", []*onnxpb.NodeProto{normOf("x", "y"), normOf("y", "z")}, func(*onnxpb.ModelProto) {}, 1, 4},
		{"f64", []*onnxpb.NodeProto{normOf("x", "y"), normOf("y", "z")}, double, 1, 4},
		{"none", []*onnxpb.NodeProto{op("Relu", "x", "y")}, func(*onnxpb.ModelProto) {}, 0, 0},
		{"unused", []*onnxpb.NodeProto{dead, op("Relu", "x", "y")}, func(*onnxpb.ModelProto) {}, 0, 0},
		{"five operands", []*onnxpb.NodeProto{op("Concat", "x x x x x", "y", intAttr("axis", 1))},
			func(*onnxpb.ModelProto) {}, 0, 0},
	} {
		m := modelOf(14, 0, []int64{2, 3}, vectors, c.nodes...)
		c.change(m)
		f := readModel(t, m)
		if f.Norms == nil || len(f.Norms) != c.norms || len(f.Findings) > 0 {
			t.Errorf("%s: batch norms %v, findings %v", c.name, f.Norms, f.Findings)
		}
		if f.NoModel != nil {
			t.Errorf("%s: %v", c.name, f.NoModel)
			continue
		}
		if len(f.Model.State) != c.states {
			t.Errorf("%s: %d tensors of state, want %d", c.name, len(f.Model.State), c.states)
		}
		for name, s := range f.Model.State {
			if s.DType != tensor.F32 || !slices.Equal(s.F32(), two) {
				t.Errorf("%s: %s is %v", c.name, name, s)
			}
		}
	}
}

// TestOperandsOfNorms: the operands of a batch norm must fit the channels.
func TestOperandsOfNorms(t *testing.T) {
	two, three := []float32{1, 2}, []float32{1, 2, 3}
	vectors := map[string][]float32{"g": two, "b": two, "m": two, "v": two, "long": three}
	for inputs, want := range map[string]string{
		"x g b m v": "batch_norm(", "x  b m v": "operand 1 is absent",
		"x long b m v": "operand 1 is ", "x g b m long": "operand 4 is ",
	} {
		n := op("BatchNormalization", inputs, "y")
		if got := became(onlyNode(t, 13, n, 0, []int64{2, 3}, vectors)); !strings.Contains(got, want) {
			t.Errorf("%s: %s\nwant %s", inputs, got, want)
		}
	}
	n := op("BatchNormalization", "x g b m v", "y")
	if got := became(onlyNode(t, 13, n, 0, nil, vectors)); !strings.Contains(got, "without channels") {
		t.Errorf("of a number: %s", got)
	}
	m := modelOf(13, 0, []int64{2, 3}, vectors, n)
	for _, i := range m.Graph.Initializer {
		i.DataType, i.FloatData, i.RawData = int32(onnxpb.TensorProto_BOOL), nil, make([]byte, i.Dims[0])
	}
	if got := became(readModel(t, m)); !strings.Contains(got, "does not convert to f32") {
		t.Errorf("of truth values: %s", got)
	}
}

// TestTypesOfInputs: the file's float types become f32, with a note.
func TestTypesOfInputs(t *testing.T) {
	for kind, want := range map[onnxpb.TensorProto_DataType]string{
		onnxpb.TensorProto_FLOAT: "", onnxpb.TensorProto_FLOAT16: "computes in f16",
		onnxpb.TensorProto_DOUBLE: "computes in f64", onnxpb.TensorProto_STRING: "data of the type STRING",
		onnxpb.TensorProto_BOOL:  "its type is bool",
		onnxpb.TensorProto_INT64: "of integers that come from the input is not supported",
	} {
		m := modelOf(13, 0, []int64{2}, nil, op("Relu", "x", "y"))
		m.Graph.Input[0].Type.TensorType.ElemType = int32(kind)
		f := readModel(t, m)
		got := fmt.Sprint(f.Findings, f.NoModel)
		if want == "" && (len(f.Findings) > 0 || f.NoModel != nil) || !strings.Contains(got, want) {
			t.Errorf("%v: %s\nwant %q", kind, got, want)
		}
		if computes := want == "" || strings.HasPrefix(want, "computes"); (f.NoModel == nil) != computes {
			t.Errorf("%v: a model: %v", kind, f.NoModel)
		} else if computes && f.Model.Input().DType != tensor.F32 {
			t.Errorf("%v: the input is %v", kind, f.Model.Input().DType)
		}
	}
}

// TestTensorsOnce: a constant that nodes make is listed once as a tensor of the file,
// unless it has no elements. A Constant with two results, and a second value for a name,
// are refused.
func TestTensorsOnce(t *testing.T) {
	weight := func(name string, v ...float32) *onnxpb.NodeProto {
		p := &onnxpb.TensorProto{DataType: int32(onnxpb.TensorProto_FLOAT), Dims: []int64{int64(len(v))},
			FloatData: v}
		return &onnxpb.NodeProto{OpType: "Constant", Output: strings.Fields(name),
			Attribute: settings{{Name: "value", Type: onnxpb.AttributeProto_TENSOR, T: p}}}
	}
	m := modelOf(13, 0, []int64{2}, nil, weight("w", 1, 2), weight("empty"), op("Neg", "w", "n"),
		op("Mul", "x n", "y"), op("Mul", "y n", "z"))
	var names []string
	for _, x := range readModel(t, m).Tensors {
		names = append(names, x.Name)
	}
	if got := strings.Join(names, " "); got != "w n" {
		t.Errorf("tensors %q, want w and n", got)
	}
	for want, n := range map[string]*onnxpb.NodeProto{"2 results, want 1": weight("a b", 1),
		"a second time": weight("w", 1)} {
		m := modelOf(13, 0, []int64{2}, map[string][]float32{"w": {1, 2}}, n, op("Mul", "x w", "y"))
		b, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ReadFrom(bytes.NewReader(b), int64(len(b)), Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestVersions: the operator set is the version of ONNX's domain, which is named "" or
// "ai.onnx". The file's counters include the operator set and the producer.
func TestVersions(t *testing.T) {
	m := modelOf(maxOpset, 0, []int64{2}, nil, op("Relu", "x", "y"))
	m.OpsetImport = []*onnxpb.OperatorSetIdProto{{Domain: "ai.onnx", Version: maxOpset},
		{Domain: "mine", Version: 1}}
	for producer, want := range map[string]string{"": "ir_version opset",
		"exporter": "ir_version opset producer"} {
		m.ProducerName = producer
		f := readModel(t, m)
		var names []string
		for _, c := range f.Counters {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); got != want || f.NoModel != nil {
			t.Errorf("%q: %s, %v; want %s", producer, got, f.NoModel, want)
		}
	}
}
