package formats

import (
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// TestOldNamesOfDetectors: files with the names of torchvision before 0.13, which the
// published weights have, fit the detectors of the zoo.
func TestOldNamesOfDetectors(t *testing.T) {
	heads := strings.NewReplacer("conv.0.0.", "conv.0.", "conv.1.0.", "conv.2.", "conv.2.0.", "conv.4.",
		"conv.3.0.", "conv.6.")
	for name, rename := range map[string]func(string) string{
		"fcos-resnet50-fpn":         func(s string) string { return s },
		"retinanet-resnet50-fpn":    func(s string) string { return heads.Replace(s) },
		"retinanet-resnet50-fpn-v2": func(s string) string { return s },
	} {
		m, err := models.Build(name, models.Options{Classes: 5})
		if err != nil {
			t.Fatal(err)
		}
		f, want, changed := &File{}, []string{}, 0
		for _, s := range m.Graph.State {
			old := s.Name
			if strings.Contains(old, "_blocks.") {
				old = strings.Replace(old, ".0.weight", ".weight", 1)
				old = strings.Replace(old, ".0.bias", ".bias", 1)
			}
			if old = rename(old); old != s.Name {
				changed++
			}
			x, err := foreign.NewTensor(old, tensor.F32, s.Shape, nil)
			if err != nil {
				t.Fatal(err)
			}
			f.Tensors, want = append(f.Tensors, x), append(want, s.Name)
		}
		if changed < 12 {
			t.Errorf("%s: %d names are old", name, changed)
		}
		renameOld(f)
		var got []string
		for _, x := range f.Tensors {
			got = append(got, x.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: names %v, want %v", name, got, want)
		}
		as, err := Identify(f)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n, _ := as.DetectedClasses(); as.Architecture != name || n != 5 {
			t.Errorf("%s is taken for %s with %d classes", name, as.Architecture, n)
		}
	}
}
