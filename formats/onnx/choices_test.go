package onnx

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// settings are the attributes of an operator.
type settings = []*onnxpb.AttributeProto

// ofX returns a node with the operand x and the result y.
func ofX(op string, with settings) *onnxpb.NodeProto {
	return &onnxpb.NodeProto{OpType: op, Name: "n", Input: []string{"x"}, Output: []string{"y"}, Attribute: with}
}

// onlyNode returns a file with the single node n. Its operands are the input x, with
// samples of the given shape, and vectors of floats. If batch is 0, the file leaves its
// length open.
func onlyNode(t *testing.T, opset int64, n *onnxpb.NodeProto, batch int64, shape []int64,
	vectors map[string][]float32) *foreign.File {
	t.Helper()
	return readModel(t, modelOf(opset, batch, shape, vectors, n))
}

// modelOf returns a model that consists of the given nodes. The first result of the last
// node is the output.
func modelOf(opset, batch int64, shape []int64, vectors map[string][]float32,
	nodes ...*onnxpb.NodeProto) *onnxpb.ModelProto {
	in := &onnxpb.TensorShapeProto{}
	for _, length := range append([]int64{batch}, shape...) {
		d := &onnxpb.TensorShapeProto_Dimension{}
		if length > 0 {
			d.DimValue = proto.Int64(length)
		}
		in.Dim = append(in.Dim, d)
	}
	float := int32(onnxpb.TensorProto_FLOAT)
	g := &onnxpb.GraphProto{Name: "one", Node: nodes,
		Input: []*onnxpb.ValueInfoProto{{Name: "x", Type: &onnxpb.TypeProto{
			TensorType: &onnxpb.TypeProto_Tensor{ElemType: float, Shape: in}}}},
		Output: []*onnxpb.ValueInfoProto{{Name: nodes[len(nodes)-1].Output[0]}}}
	for _, name := range slices.Sorted(maps.Keys(vectors)) {
		v := vectors[name]
		g.Initializer = append(g.Initializer, &onnxpb.TensorProto{Name: name, DataType: float,
			Dims: []int64{int64(len(v))}, FloatData: v})
	}
	return &onnxpb.ModelProto{IrVersion: 8, Graph: g,
		OpsetImport: []*onnxpb.OperatorSetIdProto{{Version: opset}}}
}

// readModel reads a file from its message.
func readModel(t *testing.T, m *onnxpb.ModelProto) *foreign.File {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	f, err := ReadFrom(bytes.NewReader(b), int64(len(b)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// readOnly reads only the tensors of a file.
func readOnly(m *onnxpb.ModelProto) (*foreign.File, error) {
	b, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	return ReadFrom(bytes.NewReader(b), int64(len(b)), Options{TensorsOnly: true})
}

// readTensors does the same as readOnly for a file that must be readable.
func readTensors(t *testing.T, m *onnxpb.ModelProto) *foreign.File {
	t.Helper()
	f, err := readOnly(m)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// became returns the graph of a file, or the reason why it has no graph.
func became(f *foreign.File) string {
	if f.NoModel != nil {
		return f.NoModel.Error()
	}
	return string(f.Model.Graph.Text())
}

// TestTrainingMode: the mark of a batch norm that normalises by its batch depends on the
// operator set: is_test in 6, additional results up to 13, training_mode from 14 on. The
// attribute spatial exists up to operator set 8.
func TestTrainingMode(t *testing.T) {
	const trains, apart = "a batch norm in training mode", "spatial=0"
	for _, c := range []struct {
		opset   int64
		attr    string
		value   int
		outputs []string
		want    string
	}{
		{6, "is_test", 1, nil, ""},
		{6, "is_test", 0, nil, trains},
		{7, "epsilon", 0, []string{"mean", "var"}, trains},
		{7, "epsilon", 0, []string{"", ""}, ""},
		{8, "spatial", 0, nil, apart},
		{8, "spatial", 1, nil, ""},
		{9, "spatial", 0, nil, ""},
		{7, "is_test", 0, nil, ""},
		{13, "epsilon", 0, []string{"mean"}, trains},
		{14, "training_mode", 1, nil, trains},
		{14, "training_mode", 0, nil, ""},
		{14, "training_mode", 0, []string{"mean"}, ""},
	} {
		n := &onnxpb.NodeProto{OpType: "BatchNormalization", Name: "n", Input: []string{"x", "g", "b", "m", "v"},
			Output: append([]string{"y"}, c.outputs...)}
		if c.attr != "epsilon" {
			n.Attribute = settings{intAttr(c.attr, c.value)}
		}
		two := []float32{1, 2}
		f := onlyNode(t, c.opset, n, 0, []int64{2, 3}, map[string][]float32{"g": two, "b": two, "m": two, "v": two})
		got := became(f)
		if c.want == "" && !strings.Contains(got, "batch_norm(") || !strings.Contains(got, c.want) {
			t.Errorf("opset %d, %s=%d, %q: %s\nwant %s", c.opset, c.attr, c.value, c.outputs, got, c.want)
		}
		if found := len(f.Findings) > 0; found != (c.want == trains) || len(f.Norms) != 1 {
			t.Errorf("opset %d, %s=%d, %q: %v, %v", c.opset, c.attr, c.value, c.outputs, f.Findings, f.Norms)
		}
	}
}

// TestMomentum: momentum is the weight of the old value in the running statistics. A momentum of 1,
// which would never update them, counts as absent.
func TestMomentum(t *testing.T) {
	for _, c := range []struct {
		momentum float64
		want     string
		found    bool
	}{
		{0.75, "decay=0.75", false}, {0, "decay=0)", false}, {1, "batch_norm(", true},
		{1.5, "its momentum is 1.5", false}, {-0.25, "its momentum is -0.25", false},
	} {
		n := &onnxpb.NodeProto{OpType: "BatchNormalization", Name: "n", Input: []string{"x", "g", "b", "m", "v"},
			Output: []string{"y"}, Attribute: settings{floatAttr("momentum", c.momentum)}}
		two := []float32{1, 2}
		f := onlyNode(t, 9, n, 0, []int64{2, 3}, map[string][]float32{"g": two, "b": two, "m": two, "v": two})
		got := became(f)
		if !strings.Contains(got, c.want) || c.found && strings.Contains(got, "decay") { // 0.9 is not written
			t.Errorf("momentum %g: %s, want %s", c.momentum, got, c.want)
		}
		if found := len(f.Findings) == 1 && strings.Contains(f.Findings[0].Text, "momentum 1 "); found != c.found {
			t.Errorf("momentum %g: findings %v", c.momentum, f.Findings)
		}
	}
}

// TestBlocks: blocks that do not divide their operand are refused.
func TestBlocks(t *testing.T) {
	mode := func(s string) *onnxpb.AttributeProto {
		return &onnxpb.AttributeProto{Name: "mode", Type: onnxpb.AttributeProto_STRING, S: []byte(s)}
	}
	for _, c := range []struct {
		op    string
		shape []int64
		attrs settings
		want  string
	}{
		{"DepthToSpace", []int64{8, 3, 5}, settings{intAttr("blocksize", 2)}, "shape=[2,6,10]"},
		{"DepthToSpace", []int64{8, 3, 5}, settings{intAttr("blocksize", 2), mode("CRD")},
			"shape=[2,2,2,3,5]"},
		{"DepthToSpace", []int64{18, 2, 3}, settings{intAttr("blocksize", 3), mode("CRD")},
			"perm=[0,3,1,4,2]"},
		{"DepthToSpace", []int64{8, 3, 5}, settings{intAttr("blocksize", 1)}, "shape=[8,3,5]"},
		{"DepthToSpace", []int64{1 << 20, 1, 1}, settings{intAttr("blocksize", 1024)}, "shape=[1,1024,1024]"},
		{"DepthToSpace", []int64{8, 3, 5}, settings{intAttr("blocksize", 2), mode("RCD")}, "mode is"},
		{"DepthToSpace", []int64{6, 3, 5}, settings{intAttr("blocksize", 2)}, "into blocks of 2"},
		{"DepthToSpace", []int64{8, 3}, settings{intAttr("blocksize", 2)}, "into blocks of 2"},
		{"DepthToSpace", []int64{8, 3, 5}, settings{intAttr("blocksize", 0)}, "into blocks of 0"},
		{"DepthToSpace", []int64{8, 3, 5}, settings{intAttr("blocksize", 1025)}, "into blocks of 1025"},
		{"SpaceToDepth", []int64{2, 6, 10}, settings{intAttr("blocksize", 2)}, "shape=[8,3,5]"},
		{"SpaceToDepth", []int64{8, 3, 5}, settings{intAttr("blocksize", 1)}, "shape=[8,3,5]"},
		{"SpaceToDepth", []int64{1, 1024, 1024}, settings{intAttr("blocksize", 1024)}, "shape=[1048576,1,1]"},
		{"SpaceToDepth", []int64{2, 5, 10}, settings{intAttr("blocksize", 2)}, "in blocks of 2"},
		{"SpaceToDepth", []int64{2, 6, 9}, settings{intAttr("blocksize", 2)}, "in blocks of 2"},
		{"SpaceToDepth", []int64{6, 10}, settings{intAttr("blocksize", 2)}, "in blocks of 2"},
		{"SpaceToDepth", []int64{2, 6, 10}, settings{intAttr("blocksize", 0)}, "in blocks of 0"},
		{"SpaceToDepth", []int64{2, 6, 10}, settings{intAttr("blocksize", 1025)}, "in blocks of 1025"},
	} {
		n := ofX(c.op, c.attrs)
		if got := became(onlyNode(t, 13, n, 0, c.shape, nil)); !strings.Contains(got, c.want) {
			t.Errorf("%s of %v, %v: %s\nwant %s", c.op, c.shape, c.attrs, got, c.want)
		}
	}
}

// TestArgMaxOfClasses: an ArgMax selects the class for an output if its axis is the first
// one after the batch, or the last one and all others have length 1. Any other ArgMax
// computes the index.
func TestArgMaxOfClasses(t *testing.T) {
	for _, c := range []struct {
		shape []int64
		attrs settings
		want  string
	}{
		{[]int64{5}, settings{intAttr("axis", 1)}, "return"},
		{[]int64{5, 3, 4}, settings{intAttr("axis", 1)}, "return"},
		{[]int64{1, 1, 5}, settings{intAttr("axis", 3)}, "return"},
		{[]int64{1, 1, 5}, settings{intAttr("axis", -1)}, "return"},
		{[]int64{2, 1, 5}, settings{intAttr("axis", 3)}, "reduce_min"},
		{[]int64{5, 3, 4}, settings{intAttr("axis", 2)}, "reduce_min"},
		{[]int64{5}, settings{intAttr("axis", 1), intAttr("select_last_index", 1)}, "reduce_max"},
	} {
		n := ofX("ArgMax", c.attrs)
		if got := became(onlyNode(t, 13, n, 0, c.shape, nil)); !strings.Contains(got, c.want) {
			t.Errorf("of %v, %v: %s\nwant %s", c.shape, c.attrs, got, c.want)
		}
	}
}

// TestSqueezeOfASingleBatch: where the file fixes the batch to 1, that axis may be removed
// like any other of length 1.
func TestSqueezeOfASingleBatch(t *testing.T) {
	axes := func(v ...int64) settings {
		return settings{{Name: "axes", Type: onnxpb.AttributeProto_INTS, Ints: v}}
	}
	for _, c := range []struct {
		shape []int64
		attrs settings
		want  string
	}{
		{[]int64{5, 1, 1}, nil, "shape=[5]"},
		{[]int64{5, 1, 1}, axes(2), "shape=[5,1]"},
		{[]int64{5, 1, 3}, axes(0), "shape=[5,1,3]"},
		{[]int64{5, 1, 3}, axes(1), "axis 1 of [1 5 1 3] is not 1"},
	} {
		n := ofX("Squeeze", c.attrs)
		if got := became(onlyNode(t, 11, n, 1, c.shape, nil)); !strings.Contains(got, c.want) {
			t.Errorf("of %v, %v: %s\nwant %s", c.shape, c.attrs, got, c.want)
		}
	}
}

// TestSniff: a version from 1 to 64 comes first, then a name, a number or the graph.
func TestSniff(t *testing.T) {
	for head, want := range map[string]bool{
		"\x08\x08\x12\x01p": true, "\x08\x01\x12\x01p": true, "\x08\x40\x12\x01p": true,
		"\x08\x08\x1a\x01p": true, "\x08\x08\x22\x01p": true, "\x08\x08\x3a\x01p": true, "\x08\x08\x42\x01p": true,
		"\x08\x08\x28\x01": true,
		"":                 false, "\x08": false, "\x08\x08": false, "\x08\x00\x12\x01p": false,
		"\x08\x41\x12\x01p": false, "\x10\x08\x12\x01p": false, "\x0a\x01p\x12\x01p": false,
		"\x08\x08\x10\x01": false, "\x08\x08\x2a\x01p": false,
		"\x08\x08\x32\x01p": false, "\x08\x08\x0a\x01p": false,
		"\x08\x08\x38\x01": false,
	} {
		if got := Sniff([]byte(head)); got != want {
			t.Errorf("%q: %v, want %v", head, got, want)
		}
	}
}
