package modelfile

import (
	"testing"

	"github.com/bnctl/bnctl/models"
)

// TestPreprocessOfDetectors: all of a picture is in the input of a detector, whatever file its weights come
// from.
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
