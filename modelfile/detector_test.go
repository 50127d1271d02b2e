package modelfile

import (
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/models"
)

// TestPreprocessOfDetectors: a preset gives the input of a detector the whole picture
// (letterbox), also for weights of another program.
func TestPreprocessOfDetectors(t *testing.T) {
	for name, want := range map[string]bool{"yolox-nano": true, "fcos-resnet50-fpn": true, "resnet18": false} {
		m, err := models.Build(name, models.Options{Classes: 2,
			Input: models.Size{Height: 64, Width: 64, Channels: 3}})
		if err != nil {
			t.Fatal(err)
		}
		m.Preprocess = models.Preprocess{}
		got, err := (&Preprocess{Name: "imagenet"}).apply(m)
		if err != nil {
			t.Fatal(err)
		}
		if got.Preprocess.Letterbox != want {
			t.Errorf("%s: letterbox is %v", name, got.Preprocess.Letterbox)
		}
	}
}

// TestSizeOfDetectors: a detector that is opened with another size keeps its number of
// classes, although the length of its output changes.
func TestSizeOfDetectors(t *testing.T) {
	size := models.Size{Height: 64, Width: 96, Channels: 3}
	for name, classes := range map[string]int{"yolox-nano": 2, "ssdlite320-mobilenetv3-large": 1} {
		m, err := models.Build(name, models.Options{Classes: classes})
		if err == nil {
			err = models.Init(m, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "m.safetensors")
		if _, err := formats.Export(path, m, formats.ExportOptions{}); err != nil {
			t.Fatal(err)
		}
		got, err := Open(path, Options{Size: size})
		if err != nil {
			t.Fatal(err)
		}
		if n := got.Model.Classes(); n != classes || got.Model.Input().Shape[1] != 64 {
			t.Errorf("%s: %d classes for an input of %v", name, n, got.Model.Input())
		}
	}
}
