package formats

import (
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// TestComplete adds missing statistics and replaces statistics of another shape. Their
// shapes come from the architecture, or from the names of the other tensors.
func TestComplete(t *testing.T) {
	m, err := models.Build("resnet20", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := models.Init(m, 0); err != nil {
		t.Fatal(err)
	}
	const layer = "layer1.0.bn1."
	cases := []struct {
		name   string
		change func([]Tensor) []Tensor
		made   []string // tensors that are made from names alone
	}{
		{"whole", func(s []Tensor) []Tensor { return s }, nil},
		{"no variance", without(layer + "running_var"), []string{layer + "running_var"}},
		{"other shape", func(s []Tensor) []Tensor {
			return append(without(layer+"running_mean")(s), InMemory(layer+"running_mean", tensor.New(tensor.F32, 3)))
		}, []string{layer + "running_mean"}},
		{"counter alone", func(s []Tensor) []Tensor {
			return append(without(layer+"running_mean", layer+"running_var")(s),
				InMemory(layer+"num_batches_tracked", tensor.Scalar(int64(5))))
		}, []string{layer + "running_mean", layer + "running_var"}},
	}
	for _, c := range cases {
		for _, as := range []*models.Model{nil, m} {
			f := &File{Tensors: c.change(Tensors(m))}
			if found, err := IdentifyIncomplete(f); err != nil || found.Architecture != "resnet20" {
				t.Errorf("%s: identified %v, %v", c.name, found, err)
			}
			if made := Complete(f, as); !slices.Equal(made, c.made) {
				t.Errorf("%s: made %v, want %v", c.name, made, c.made)
			}
			if _, err := Identify(f); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
	f := &File{Tensors: without("conv1.weight")(Tensors(m))}
	if _, err := IdentifyIncomplete(f); err == nil || !strings.Contains(err.Error(), "no architecture") {
		t.Errorf("a weight is missing: %v", err)
	}
}

// without leaves out tensors by name.
func without(names ...string) func([]Tensor) []Tensor {
	return func(s []Tensor) []Tensor {
		return slices.DeleteFunc(s, func(t Tensor) bool { return slices.Contains(names, t.Name) })
	}
}
