package onnx

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestCases compares one model for every form of each operator with the results of ONNX
// Runtime. testdata/make_cases.py made both.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.onnx")
	if err != nil || len(files) < 70 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, path := range files {
		m, err := opened(path)
		if err != nil {
			t.Error(err)
			continue
		}
		want := npy(t, strings.TrimSuffix(path, ".onnx")+".npy")
		if m.Graph.Main.Outputs[0].Name != "y" {
			t.Errorf("%s: the output is called %s, want y", path, m.Graph.Main.Outputs[0].Name)
		}
		rows := 2
		bare := strings.HasPrefix(filepath.Base(path), "bare-")
		if bare {
			rows = 1
		}
		out, err := eval(m, ramp(m, rows))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if bare { // the file has no batch: the shape is compared without its batch axis
			want = want.Reshape(out[0].Shape...)
		}
		if d := worst(out[0], want); !(d <= 2e-6) {
			t.Errorf("%s: output %v differs from %v by %g", path, out[0].Shape, want.Shape, d)
		}
	}
}
