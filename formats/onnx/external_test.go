package onnx

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/encode"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// TestExternalData stores the tensors in another file in the model's folder. They must be
// the same as if they were stored in the model's file.
func TestExternalData(t *testing.T) {
	m := fromText(t, everyOp)
	p, err := encode.Model(m, DefaultOpset, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var data []byte
	for _, x := range p.Graph.Initializer {
		x.DataLocation = onnxpb.TensorProto_EXTERNAL
		x.ExternalData = []*onnxpb.StringStringEntryProto{
			{Key: "location", Value: "weights/data.bin"},
			{Key: "offset", Value: strconv.Itoa(len(data))},
			{Key: "length", Value: strconv.Itoa(len(x.RawData))},
		}
		data, x.RawData = append(data, x.RawData...), nil
	}
	b, err := proto.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "weights"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"model.onnx": b, "weights/data.bin": data} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := opened(filepath.Join(dir, "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	want := back(t, m).Model
	for name, w := range want.State {
		if !tensor.Equal(got.State[name], w) {
			t.Errorf("tensor %s differs", name)
		}
	}
}

// TestExternalTwice checks that the total size of tensors that overlap in a file is limited
// by the size of that file.
func TestExternalTwice(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "data"), make([]byte, 8<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	p := &onnxpb.TensorProto{DataType: int32(onnxpb.TensorProto_FLOAT), Dims: []int64{2 << 20},
		DataLocation: onnxpb.TensorProto_EXTERNAL,
		ExternalData: []*onnxpb.StringStringEntryProto{{Key: "location", Value: "data"}}}
	e := &decode.External{Dir: dir}
	for i := range 3 { // up to the size of the file and foreign.Slack
		if _, err := e.Find(p, 8<<20); err != nil {
			t.Fatalf("tensor %d: %v", i, err)
		}
	}
	if _, err := e.Find(p, 8<<20); err == nil {
		t.Error("a file was read four times without an error")
	}
}

// TestExternalBudget: the memory limit for computed constants grows with the tensors in
// other files.
func TestExternalBudget(t *testing.T) {
	const n = 2200 // side of a matrix of 37 MiB, which is transposed four times
	dir := t.TempDir()
	p := &onnxpb.TensorProto{Name: "w", DataType: int32(onnxpb.TensorProto_DOUBLE), Dims: []int64{n, n},
		DataLocation: onnxpb.TensorProto_EXTERNAL,
		ExternalData: []*onnxpb.StringStringEntryProto{{Key: "location", Value: "data"}}}
	var list nodes
	for _, to := range []string{"a", "b", "c", "d"} {
		list = append(list, op("Transpose", "w", to), op("ReduceMax", to, to+"m", intAttr("keepdims", 0)),
			op("Add", "x "+to+"m", to+"y"))
	}
	m := modelOf(13, 0, []int64{3}, nil, append(list, op("Sum", "ay by cy dy", "y"))...)
	m.Graph.Initializer = append(m.Graph.Initializer, p)
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	path, data := filepath.Join(dir, "model.onnx"), filepath.Join(dir, "data")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(data, make([]byte, n*n*8), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := opened(path); err != nil {
		t.Error(err)
	}
}
