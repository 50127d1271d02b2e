package quantize

import (
	"slices"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
)

// TestSmallWeights: the first layer of a detector reads pixels from 0 to 255. With its batch norm
// it has small weights. No other layer has small weights, and no layer of a network that normalises
// its pixels.
func TestSmallWeights(t *testing.T) {
	for name, want := range map[string][]string{"resnet20": nil,
		"yolox-nano": {"backbone.backbone.stem.conv.conv.weight"}} {
		o := models.Options{Classes: 10}
		if name == "yolox-nano" {
			o.Input = models.Size{Height: 32, Width: 32, Channels: 3}
		}
		m, err := models.Build(name, o)
		if err == nil {
			err = models.Init(m, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range m.Graph.State {
			if st.Name == "backbone.backbone.stem.conv.bn.running_var" { // of random pixels
				for i := range m.State[st.Name].F32() {
					m.State[st.Name].F32()[i] = 75 * 75
				}
			}
		}
		src, err := data.Open(t.Context(), "shapes:8", data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		trained, err := Trainable(t.Context(), m, Options{Data: src, Samples: 8})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range SmallWeights(trained) {
			got = append(got, w.Name)
			if w.Factor > 1.0/16 {
				t.Errorf("%s: factor %v", w.Name, w.Factor)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: small weights %q, want %q", name, got, want)
		}
	}
}
