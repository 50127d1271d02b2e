package modelfile

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

var tenClasses = data.Info{Kind: "npy", Shape: []int{32, 32, 3}, DType: tensor.U8,
	Classes: strings.Split("0123456789", "")}

// zooFiles writes a model of the zoo for ten classes as a template and as tensors.
func zooFiles(t *testing.T, name string) (m *models.Model, template, tensors string) {
	t.Helper()
	m, err := models.Build(name, models.Options{Classes: 10})
	if err == nil {
		err = models.Init(m, 3)
	}
	template, tensors = filepath.Join(t.TempDir(), "m.bnm"), filepath.Join(t.TempDir(), "m.safetensors")
	if err == nil {
		_, err = serialize.WriteModel(template, m)
	}
	if err == nil {
		_, err = formats.Save(tensors, formats.Tensors(m))
	}
	if err != nil {
		t.Fatal(err)
	}
	return m, template, tensors
}

// If the file is of a deeper or a shallower network, the message has the numbers of
// tensors. It names the network of the file if most tensors match that network.
func TestInitSaysWhatTheFileIs(t *testing.T) {
	m, template, tensors := zooFiles(t, "resnet20")
	for _, path := range []string{template, tensors} {
		for _, c := range []struct{ model, fits string }{{"resnet20", ""}, {"resnet110", "resnet20"}} {
			s, err := Start(c.model, tenClasses, StartOptions{Init: path})
			if err != nil {
				t.Fatal(err)
			}
			r := s.Loaded.Report(path)
			if r.Taken != len(m.State) || r.New != len(s.State)-len(m.State) || r.Left != 0 || r.Fits != c.fits {
				t.Errorf("%s from %s: %+v, want %d taken, %d new, fits %q", c.model, path, r, len(m.State),
					len(s.State)-len(m.State), c.fits)
			}
			if c.fits != "" && !strings.HasSuffix(s.Loaded.String(), "; the file is of a "+c.fits) {
				t.Errorf("it says %q", s.Loaded)
			}
		}
	}
	_, err := Start("lenet-bn", tenClasses, StartOptions{Init: tensors})
	if err == nil || !strings.Contains(err.Error(), "train model resnet20, which it fits") {
		t.Errorf("a file of which nothing fits: %v", err)
	}
}

// For a network of another depth and for missing statistics, the error names the remedy.
func TestArchNamesTheNearest(t *testing.T) {
	m, _, tensors := zooFiles(t, "resnet20")
	_, err := Open(tensors, Options{Arch: "resnet32"})
	if err == nil || !strings.Contains(err.Error(), "it fits resnet20: name that with arch") {
		t.Errorf("another network: %v", err)
	}
	var all []formats.Tensor
	for _, x := range formats.Tensors(m) {
		if !strings.Contains(x.Name, "running_") {
			all = append(all, x)
		}
	}
	path := filepath.Join(t.TempDir(), "without.safetensors")
	if _, err := formats.Save(path, all); err != nil {
		t.Fatal(err)
	}
	for _, arch := range []string{"", "resnet20"} {
		_, err := Open(path, Options{Arch: arch})
		if err == nil || !strings.Contains(err.Error(), "doctor with repair estimates them over data") {
			t.Errorf("missing statistics, arch %q: %v", arch, err)
		}
	}
}

// Integer tensors in place of floats are reported, and not used.
func TestInitFromQuantised(t *testing.T) {
	m, _, _ := zooFiles(t, "resnet20")
	var all []formats.Tensor
	for _, s := range m.Graph.State {
		if x := m.State[s.Name]; s.Role == graph.Weight {
			all = append(all, formats.InMemory(s.Name, tensor.New(tensor.U8, x.Shape...)))
		} else {
			all = append(all, formats.InMemory(s.Name, x))
		}
	}
	path := filepath.Join(t.TempDir(), "quantised.safetensors")
	if _, err := formats.Save(path, all); err != nil {
		t.Fatal(err)
	}
	s, err := Start("resnet20", tenClasses, StartOptions{Init: path})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(s.InitChoice.Findings, func(f formats.Finding) bool {
		return strings.HasPrefix(f.Text, "20 tensors of integers, as quantised models have, where resnet20 has floats")
	}) {
		t.Errorf("findings %+v", s.InitChoice.Findings)
	}
}
