package formats

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/modelfile/formats/safetensors"
	"github.com/bnctl/bnctl/modelfile/formats/torch"
)

// TestEmpty: a file of nothing is refused in every format; a graph without weights has only no tensors.
func TestEmpty(t *testing.T) {
	dir := t.TempDir()
	files := []string{"keras/testdata/unbuilt.h5",
		"caffe/testdata/hostile/no_bottom.caffemodel"}
	for name, write := range map[string]func(io.Writer, []Tensor, ...string) error{"x.pth": torch.Write,
		"x.safetensors": safetensors.Write} {
		var b bytes.Buffer
		path := filepath.Join(dir, name)
		if err := write(&b, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	const graph = "onnx/testdata/cases/abs.onnx"
	if f, err := Open(graph, Options{}); err != nil || f.Model == nil {
		t.Errorf("%s: %v", graph, err)
	}
	if _, err := Open(graph, Options{TensorsOnly: true}); err == nil {
		t.Errorf("%s has tensors", graph)
	}
	for _, path := range files {
		for _, o := range []Options{{}, {TensorsOnly: true}} {
			f, err := Open(path, o)
			if err == nil {
				f.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "no tensors") &&
				!strings.Contains(err.Error(), "no state dict") {
				t.Errorf("%s: got error %v, want no tensors", path, err)
			}
		}
	}
}
