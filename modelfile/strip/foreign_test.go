package strip_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile/strip"
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
