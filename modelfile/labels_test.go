package modelfile_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/tensor"
)

// TestLabelsOfFiles: an export keeps the names of the classes, and opening it returns them.
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

// TestLabelsOfDetectors: a detector keeps the names of the classes of its boxes, if its file
// includes non-maximum suppression, and if the user gives the form of its boxes.
func TestLabelsOfDetectors(t *testing.T) {
	labels := []string{"cat", "dog"}
	m, err := models.Build("yolox-nano", models.Options{Input: models.Size{Height: 64, Width: 64, Channels: 3}, Classes: 2})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.Labels = labels
	path := filepath.Join(t.TempDir(), "m.onnx")
	suppressed := formats.ExportOptions{Suppress: &cells.Options{Score: 0.3, Overlap: 0.5}}
	if _, err := formats.Export(path, m, suppressed); err != nil {
		t.Fatal(err)
	}
	for _, boxes := range []string{"", "suppressed"} {
		got, err := modelfile.Open(path, modelfile.Options{Boxes: boxes})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Labels, labels) {
			t.Errorf("--boxes %q: labels %q, want %q", boxes, got.Labels, labels)
		}
	}
	got, err := modelfile.Open(path, modelfile.Options{Boxes: "none"})
	if err != nil || got.Labels != nil {
		t.Errorf("--boxes none: labels %q, %v", got.Labels, err)
	}
}

// Training a classifier of the zoo on pictures of one class is refused.
func TestStartOnOneClass(t *testing.T) {
	info := data.Info{Kind: "folder", Len: 3, DType: tensor.U8, Labelled: true, Classes: []string{"cat"}}
	_, err := modelfile.Start("resnet20", info, modelfile.StartOptions{})
	if err == nil || !strings.Contains(err.Error(), "all samples of folder are of class cat") {
		t.Error(err)
	}
}
