package onnx

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// TestDynamicSizes opens networks that leave height and width open, and that scale feature
// maps to the size of the input. It does so for two sizes. The expected answers are from
// ONNX Runtime.
func TestDynamicSizes(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/likeinput-*.onnx")
	if err != nil || len(files) != 6 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, path := range files {
		size := []int{4, 6, 5}
		if strings.Contains(path, "large") {
			size = []int{4, 13, 10}
		}
		b := open(t, path)
		f, err := ReadFrom(bytes.NewReader(b), int64(len(b)), Options{Input: size})
		if err != nil || f.NoModel != nil {
			t.Errorf("%s: %v, %v", path, err, f.NoModel)
			continue
		}
		out, err := eval(f.Model, ramp(f.Model, 2))
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if d := worst(out[0], npy(t, strings.TrimSuffix(path, ".onnx")+".npy")); !(d <= 2e-6) {
			t.Errorf("%s: differs from ONNX Runtime by %g", path, d)
		}
	}
}

// open returns a file after removing height and width from its input.
func open(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := &onnxpb.ModelProto{}
	if err := proto.Unmarshal(b, m); err != nil {
		t.Fatal(err)
	}
	for _, d := range m.Graph.Input[0].Type.TensorType.Shape.Dim[2:] {
		d.DimValue = nil
	}
	if b, err = proto.Marshal(m); err != nil {
		t.Fatal(err)
	}
	return b
}
