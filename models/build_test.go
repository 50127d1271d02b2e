package models_test

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
)

func TestBuildOptions(t *testing.T) {
	m, err := models.Build("resnet20", models.Options{Input: models.Size{Height: 28, Width: 36, Channels: 1},
		Classes: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Input().String(); got != "rows u8[28,36,1]" {
		t.Errorf("input is %s", got)
	}
	image := &m.Graph.Main.Nodes[0]
	if got := image.Floats("mean"); len(got) != 1 || got[0] != 0.1307 {
		t.Errorf("grey images have the mean %v", got)
	}
	f := m.Graph.Main
	if got := f.Values[f.Outputs[0].Value].Type.String(); got != "rows f32[3]" || f.Outputs[0].Name != "logits" {
		t.Errorf("output %s is %s", f.Outputs[0].Name, got)
	}
}

func TestPreprocessOfSizes(t *testing.T) {
	for name, resize := range map[string]int{"resnet18": 256, "resnet20": 0} {
		m, err := models.Build(name, models.Options{})
		if err != nil || m.Preprocess.Resize != resize || !m.Preprocess.Known {
			t.Errorf("%s: %+v, error %v, want a resize to %d", name, m.Preprocess, err, resize)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	size := func(h, w, c int) models.Size { return models.Size{Height: h, Width: w, Channels: c} }
	cases := []struct {
		name string
		o    models.Options
		want string
	}{
		{"resnet21", models.Options{}, "there are mlp-bn, lenet-bn, resnet20"},
		{"resnet20", models.Options{Classes: 1}, "1 class; a classifier has 2"},
		{"resnet20", models.Options{Classes: -1}, "-1 classes"},
		{"resnet20", models.Options{Classes: 1 << 30}, "classes"},
		{"resnet20", models.Options{Input: size(0, 4, 3)}, "input of 0x4x3"},
		{"resnet20", models.Options{Input: size(1<<20, 4, 3)}, "sides are 1 to"},
		{"resnet20", models.Options{Input: size(4, 4, 1000)}, "channels 1 to"},
		{"resnet20", models.Options{Mean: []float64{0.5}}, "mean 0.5: 1 number for 3 channels"},
		{"lenet-bn", models.Options{Input: size(1, 1, 1)}, "does not take images of 1x1x1"},
		{"vgg16-bn", models.Options{Input: size(64, 64, 3)}, "sides of 32, 224"},
		{"vgg16-bn", models.Options{Input: size(16, 16, 3)}, "does not take images"},
	}
	for _, c := range cases {
		if _, err := models.Build(c.name, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: error %v, want one with %q", c.name, c.o, err, c.want)
		}
	}
}

// Layers accept inputs of odd sizes, down to one pixel.
func TestBuildOtherSizes(t *testing.T) {
	for _, c := range []struct {
		name string
		size models.Size
	}{
		{"lenet-bn", models.Size{Height: 4, Width: 4, Channels: 3}},
		{"resnet110", models.Size{Height: 1, Width: 1, Channels: 2}},
		{"resnet50", models.Size{Height: 17, Width: 250, Channels: 3}},
		{"mobilenetv2", models.Size{Height: 1, Width: 1, Channels: 3}},
		{"vgg16-bn", models.Size{Height: 448, Width: 224, Channels: 3}},
	} {
		m, err := models.Build(c.name, models.Options{Input: c.size})
		if err == nil {
			err = m.Graph.Check()
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
