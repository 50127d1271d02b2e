package modelfile_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/modelfile/formats"
	"github.com/bnctl/bnctl/models"
)

// TestLabelsOfFiles: an export keeps the names of the classes, and what opens it knows them.
func TestLabelsOfFiles(t *testing.T) {
	labels := []string{"cat", "it's a \"dog\"", "sträußchen"}
	m, err := models.Build("resnet20", models.Options{Classes: 3})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.Labels = labels
	for _, name := range []string{"m.onnx", "m.pth", "m.safetensors"} {
		path := filepath.Join(t.TempDir(), name)
		if _, err := formats.Export(path, m, formats.ExportOptions{}); err != nil {
			t.Fatal(err)
		}
		got, err := modelfile.Open(path, modelfile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Labels, labels) {
			t.Errorf("%s: labels %q, want %q", name, got.Labels, labels)
		}
	}
}
