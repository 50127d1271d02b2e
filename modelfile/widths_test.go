package modelfile

import (
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/models"
)

// A checkpoint of a network of the zoo keeps its number of input channels and of outputs,
// whether --arch names the network or the tensors identify it.
func TestWidthsOfCheckpoints(t *testing.T) {
	for _, c := range []struct{ channels, classes int }{{1, 1}, {3, 1}, {1, 5}, {4, 10}, {6, 1}} {
		o := models.Options{Input: models.Size{Height: 32, Width: 32, Channels: c.channels}, Classes: c.classes,
			OneOutput: c.classes == 1}
		m, err := models.Build("resnet20", o)
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
		for _, arch := range []string{"resnet20", ""} {
			got, err := Open(path, Options{Arch: arch})
			if err != nil {
				t.Errorf("%+v, arch %q: %v", c, arch, err)
				continue
			}
			f := got.Model.Graph.Main
			if ch, n := m.Graph.State[0].Shape[1], f.Values[f.Outputs[0].Value].Type.Shape[0]; ch != c.channels ||
				n != c.classes || got.Model.Graph.State[0].Shape[1] != c.channels {
				t.Errorf("%+v, arch %q: %d channels and %d outputs", c, arch, got.Model.Graph.State[0].Shape[1], n)
			}
		}
	}
}
