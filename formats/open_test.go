package formats

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// TestOpenRefuses rejects options that apply to another format, or that match no tensor.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	save := func(name string, tensors ...Tensor) string {
		path := filepath.Join(dir, name)
		if _, err := Save(path, tensors); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tensors := ones("module.a.w:2", "module.b.w:2")
	plain, torch := save("m.safetensors", tensors...), save("m.pth", tensors...)
	onnx := filepath.Join(dir, "m.onnx")
	if _, err := Export(onnx, small(t), ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		o    Options
		want string // "" if it succeeds
	}{
		{plain, Options{Key: "model"}, "key is for PyTorch checkpoints, this is safetensors"},
		{plain, Options{EMA: true}, "ema is for checkpoints of PyTorch and TensorFlow, this is safetensors"},
		{torch, Options{Key: "model"}, "model"},
		{torch, Options{EMA: true}, "average"},
		{torch, Options{Input: []int{3, 8, 8}}, "there is none in files of torch"},
		{plain, Options{Description: []byte("{}")}, "this description is for files of keras, the file is one of safetensors"},
		{plain, Options{Drop: []string{"a.w"}}, ""},
		{plain, Options{Drop: []string{"module.a.*"}}, ""},
		{plain, Options{Drop: []string{"["}}, "drop [: syntax error in pattern"},
		{plain, Options{Drop: []string{"b.w", "c.*"}}, "drop c.*: no tensor is called so; there are \"a.w\""},
		{plain, Options{Drop: []string{"*.w"}}, "drop leaves no tensor"},
		{onnx, Options{Drop: []string{"fc1.weight"}}, "drop: only files of mere tensors take it, this one has a graph"},
	} {
		f, err := Open(c.path, c.o)
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %+v: error %v, want %q", filepath.Base(c.path), c.o, err, c.want)
		}
		if c.want == "" && (err != nil || len(f.Tensors) != 1 || f.Tensors[0].Name != "b.w" || len(f.Left) != 1) {
			t.Errorf("%+v: %v, %v", c.o, f, err)
		}
		if err == nil {
			f.Close()
		}
	}
	zeros := InMemory("w/replica_2", tensor.New(tensor.F32, 2))
	bad := save("replicas.safetensors", append(ones("w:2", "w/replica_1:2"), zeros)...)
	if _, err := Open(bad, Options{}); err == nil || !strings.Contains(err.Error(), "replica 0 and replica 2") {
		t.Errorf("replicas that differ: %v", err)
	}
}
