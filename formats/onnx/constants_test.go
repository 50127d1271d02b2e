package onnx

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// TestConstants: weights other than initializers are tensors of the file and belong to
// their batch norm, also if the graph is not supported or not read.
func TestConstants(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/constants-*.onnx")
	if err != nil || len(files) != 9 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for what, c := range map[string]struct {
			b []byte
			o Options
		}{"read": {b: b}, "tensors only": {b, Options{TensorsOnly: true}}, "not supported": {b: unsupported(t, b)}} {
			f, err := ReadFrom(bytes.NewReader(c.b), int64(len(c.b)), c.o)
			if err != nil {
				t.Errorf("%s, %s: %v", path, what, err)
				continue
			}
			for _, name := range []string{"w", "g", "b", "m", "v"} {
				if x, ok := f.Tensor(name); !ok {
					t.Errorf("%s, %s: tensor %s is missing", path, what, name)
				} else if _, err := x.Load(); err != nil {
					t.Error(err)
				}
			}
			want := []foreign.BatchNorm{{Name: "n", Mean: "m", Variance: "v", Gamma: "g", Beta: "b", Eps: 1e-5,
				Decay: 0.9}}
			if !slices.Equal(f.Norms, want) {
				t.Errorf("%s, %s: batch norms %v, want %v", path, what, f.Norms, want)
			}
			if what == "not supported" && (f.NoModel == nil || !strings.Contains(f.NoModel.Error(), "MadeUp")) {
				t.Errorf("%s: NoModel is %v", path, f.NoModel)
			}
		}
	}
}

// unsupported appends an operator that does not exist to the only output.
func unsupported(t *testing.T, b []byte) []byte {
	t.Helper()
	m := &onnxpb.ModelProto{}
	if err := proto.Unmarshal(b, m); err != nil {
		t.Fatal(err)
	}
	out := m.Graph.Output[0]
	m.Graph.Node = append(m.Graph.Node, &onnxpb.NodeProto{OpType: "MadeUp", Input: []string{out.Name},
		Output: []string{"unknown"}})
	out.Name = "unknown"
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTraining: batch norms in training mode are found by any of their marks.
func TestTraining(t *testing.T) {
	files, err := filepath.Glob("testdata/hostile/training*.onnx")
	if err != nil || len(files) != 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		f, err := Read(path, Options{TensorsOnly: true})
		if err != nil {
			t.Error(err)
			continue
		}
		if len(f.Findings) != 1 || !f.Findings[0].Fault || !strings.Contains(f.Findings[0].Text, "training mode") {
			t.Errorf("%s: findings %+v", path, f.Findings)
		}
		f.Close()
		f, err = Read(path, Options{Training: true})
		if err != nil {
			t.Error(err)
			continue
		}
		if f.NoModel != nil || !f.Model.Normalises() || len(f.Findings) != 1 || f.Findings[0].Fault {
			t.Errorf("%s: for training: %v, findings %+v; want a model, and a remark", path, f.NoModel, f.Findings)
		}
		f.Close()
	}
}
