package formats

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bnctl/bnctl/formats/safetensors"
	"github.com/bnctl/bnctl/formats/torch"
)

// TestEmpty rejects an empty file of each format. A graph without weights is only rejected
// if Options.TensorsOnly is set.
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

// TestEmptySaysTheReason checks that the error for an unsupported graph without weights is
// the reason why the graph is not supported.
func TestEmptySaysTheReason(t *testing.T) {
	text := func(b []byte, field protowire.Number, v string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), v)
	}
	number := func(b []byte, field protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
	}
	within := func(b []byte, field protowire.Number, v []byte) []byte { return text(b, field, string(v)) }
	value := func(name string) []byte { // f32[N, 4]
		shape := within(within(nil, 1, text(nil, 2, "N")), 1, number(nil, 1, 4))
		return within(text(nil, 1, name), 2, within(nil, 1, within(number(nil, 1, 1), 2, shape)))
	}
	axis := number(number(text(nil, 1, "axis"), 3, 0), 20, 2)
	node := within(text(text(text(nil, 1, "x"), 2, "y"), 4, "Softmax"), 5, axis)
	graph := within(within(text(within(nil, 1, node), 2, "rows"), 11, value("x")), 12, value("y"))
	path := filepath.Join(t.TempDir(), "rows.onnx")
	model := within(within(number(nil, 1, 7), 7, graph), 8, number(nil, 2, 13))
	if err := os.WriteFile(path, model, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "Softmax y") {
		t.Errorf("softmax over rows: %v", err)
	}
}
