package formats

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// small returns a model of the zoo with distinct numbers.
func small(t *testing.T) *models.Model {
	t.Helper()
	m, err := models.Build("mlp-bn", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	vary(m)
	return m
}

// TestExport writes the named format, or the one of the file name's extension, with all
// tensors unchanged.
func TestExport(t *testing.T) {
	m := small(t)
	for _, c := range []struct{ name, format, is string }{
		{"m.onnx", "", "onnx"}, {"m.safetensors", "", "safetensors"}, {"m.PTH", "", "torch"}, {"m.pt", "", "torch"},
		{"weights", "onnx", "onnx"}, {"m.onnx", "safetensors", "safetensors"}, {"m.onnx", "torch", "torch"},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		sum, err := Export(path, m, ExportOptions{Format: c.format})
		if err != nil {
			t.Fatal(c, err)
		}
		if name, _, err := recognise(path); name != c.is || err != nil || len(sum) != 64 {
			t.Errorf("%+v: it is %s (%v), sum %s", c, name, err, sum)
		}
		f, err := Open(path, Options{})
		if err != nil {
			t.Fatal(c, err)
		}
		for _, want := range Tensors(m) {
			if c.is == "onnx" {
				break
			}
			got, ok := f.Tensor(want.Name)
			same, err := sameElements(got, want)
			if !ok || !same || err != nil || !slices.Equal(got.Shape, want.Shape) {
				t.Errorf("%+v: %s differs: %v", c, want.Name, err)
			}
		}
		back, err := Template(f, nil)
		if err != nil || !tensor.Equal(back.State["fc1.weight"], m.State["fc1.weight"]) {
			t.Errorf("%+v: read back: %v", c, err)
		}
		f.Close()
	}
	if _, err := Export(filepath.Join(t.TempDir(), "m.h5"), m, ExportOptions{}); err == nil ||
		!strings.Contains(err.Error(), "m.h5: want a name that ends with .onnx, .safetensors or .pth") {
		t.Error(err)
	}
	if _, err := Export(filepath.Join(t.TempDir(), "no", "m.pth"), m, ExportOptions{}); err == nil {
		t.Error("a file was written into a folder that is not there")
	}
}

// TestExportOpset writes the newest operator set unless another one is requested.
func TestExportOpset(t *testing.T) {
	m := small(t)
	sums := map[int]string{}
	for _, opset := range []int{0, OldestOpset, NewestOpset} {
		sum, err := Export(filepath.Join(t.TempDir(), "m.onnx"), m, ExportOptions{Opset: opset})
		if err != nil {
			t.Fatal(opset, err)
		}
		sums[opset] = sum
	}
	if sums[0] != sums[NewestOpset] || sums[0] == sums[OldestOpset] {
		t.Errorf("sums by operator set: %v", sums)
	}
}
