package strip_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile/strip"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// TestTensorsWithoutArchitecture keeps and reports tensors that may be trained although
// their name contains "loss", and leaves out the weights of classes and the counts of a
// metric.
func TestTensorsWithoutArchitecture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.safetensors")
	held := func(name string, d tensor.DType, shape ...int) formats.Tensor {
		return formats.InMemory(name, tensor.New(d, shape...))
	}
	if _, err := formats.Save(path, []formats.Tensor{held("fc.weight", tensor.F32, 2, 3),
		held("margin_loss.weight", tensor.F32, 2, 3), held("criterion.weight", tensor.F32, 2),
		held("val_acc.tp", tensor.I64, 2)}); err != nil {
		t.Fatal(err)
	}
	r, err := strip.Files(strip.Options{Inputs: []string{path}, Output: filepath.Join(t.TempDir(), "out.pth")})
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, g := range r.ChoiceReport.Left {
		left = append(left, g.Name)
	}
	if !slices.Equal(r.Suspect, []string{"margin_loss.weight"}) ||
		!slices.Equal(left, []string{"criterion.weight", "val_acc.tp"}) {
		t.Errorf("kept in doubt %v, left out %v", r.Suspect, left)
	}
}

// TestFaultOfTheGraph: a batch norm in training mode is a fault of the graph in a file.
// Tensors stripped from it have no graph, and only their values decide whether they are
// healthy.
func TestFaultOfTheGraph(t *testing.T) {
	const path = "../../formats/onnx/testdata/hostile/training-14.onnx"
	r, err := strip.Files(strip.Options{Inputs: []string{path}, Output: filepath.Join(t.TempDir(), "out.pth")})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) != 1 || !r.Findings[0].Fault {
		t.Errorf("remarks about the file: %v, want one fault", r.Findings)
	}
	if faults := r.Sick.Faults(); len(faults) > 0 || r.BN.Health != "healthy" {
		t.Errorf("the tensors are %s: %v", r.BN.Health, faults)
	}
}

// TestNamesOfTheModule strips ONNX files of PyTorch modules. The result has every float tensor of the
// state dict under its name and in its shape; the files lack counts and indices.
func TestNamesOfTheModule(t *testing.T) {
	files, err := filepath.Glob("../../testdata/trainrecipes/*.onnx")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d recipes, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out.pth")
			if _, err := strip.Files(strip.Options{Inputs: []string{file}, Output: out}); err != nil {
				t.Fatal(err)
			}
			have := shapes(t, out)
			for name, want := range shapes(t, strings.TrimSuffix(file, ".onnx")+".pth") {
				if have[name] != want {
					t.Errorf("%s %s, want %s", name, have[name], want)
				}
			}
		})
	}
}

// shapes returns the shapes of the float tensors of a file.
func shapes(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := formats.Open(path, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string]string{}
	for _, t := range f.Tensors {
		if t.DType == tensor.F32 {
			all[t.Name] = fmt.Sprint(t.Shape)
		}
	}
	return all
}

// TestStaleStatistics strips checkpoints of runs that estimate the statistics of their template.
// These checkpoints were written before the first estimate. A finding reports that the template has
// the statistics of the training.
func TestStaleStatistics(t *testing.T) {
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	g, err := spmd.Wrap(m.Graph, spmd.Options{Replicas: 2, BN: bn.Sync, Stats: bn.Pooled})
	if err != nil {
		t.Fatal(err)
	}
	for recipe, stale := range map[string]bool{`{"bn_precise":20}`: true, `{"weight_sync":"periodic:4"}`: true,
		`{"weight_sync":"periodic:1"}`: false, `{"weight_sync":"allreduce","ema":0}`: false} {
		path := filepath.Join(t.TempDir(), "run.bnc")
		if err := serialize.WriteCheckpoint(path, &serialize.Checkpoint{Architecture: m.Architecture, Graph: g,
			Recipe: []byte(recipe), Preprocess: m.Preprocess, Progress: []byte("{}"), State: m.State}); err != nil {
			t.Fatal(err)
		}
		r, err := strip.Files(strip.Options{Inputs: []string{path}, Output: filepath.Join(t.TempDir(), "m.bnm")})
		if err != nil {
			t.Fatal(err)
		}
		named := len(r.Findings) == 1 && strings.Contains(r.Findings[0].Text, "those of the trained weights")
		if named != stale {
			t.Errorf("%s: findings %v", recipe, r.Findings)
		}
	}
}
