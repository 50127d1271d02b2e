package bnctl_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// TestStepAsPyTorch trains the ONNX files in testdata/trainrecipes for one step. The exported tensors have
// the names, shapes and values of PyTorch's state dict after the same step. These commands make the files:
//
//	scripts/peers/trainrecipes.py --golden testdata/trainrecipes 3 12 13 17 31 42
//	scripts/peers/randomrecipes.py --golden testdata/trainrecipes
//
// A parameter that several modules share is written under each of its names. A weight that is computed from
// buffers is not trained.
func TestStepAsPyTorch(t *testing.T) {
	files, err := filepath.Glob("testdata/trainrecipes/*.onnx")
	if err != nil || len(files) == 0 {
		t.Fatal("no recipes", err)
	}
	for _, file := range files {
		base := strings.TrimSuffix(file, ".onnx")
		t.Run(filepath.Base(base), func(t *testing.T) { compareStep(t, base, trainStep(t, base)) })
	}
}

// trainStep returns the tensors of the state dict of a recipe's network after a step.
func trainStep(t *testing.T, base string) []formats.Tensor {
	t.Helper()
	m, err := serialize.ReadModel(trainStepTo(t, base))
	if err != nil {
		t.Fatal(err)
	}
	return formats.Tensors(m)
}

// trainStepTo trains the network of a recipe for a step, and returns the name of the template that it writes.
func trainStepTo(t *testing.T, base string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "net.bnm")
	r, err := bnctl.Open(t.Context(), bnctl.TrainOptions{Model: base + ".onnx",
		Data: "npy:" + base + ".x.npy," + base + ".y.npy", Output: out})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	stepOfSGD(r.Recipe())
	if _, err := r.Train(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out
}

// stepOfSGD sets the learning rate and the batch that trainrecipes.py uses: RATE and ROWS.
func stepOfSGD(r *recipe.Recipe) {
	r.Epochs, r.Steps, r.Batch, r.Replicas, r.Schedule = 0, 1, 6, 1, "constant"
	r.Optimizer, r.Momentum, r.WeightDecay, r.LR = "sgd", 0, 0, 0.25
}

func compareStep(t *testing.T, base string, got []formats.Tensor) {
	t.Helper()
	f, err := formats.Open(base+".pth", formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	have := map[string]formats.Tensor{}
	for _, g := range got {
		have[g.Name] = g
	}
	for _, want := range f.Tensors {
		if strings.HasSuffix(want.Name, "num_batches_tracked") {
			continue
		}
		g, ok := have[want.Name]
		delete(have, want.Name)
		if !ok || !slices.Equal(g.Shape, want.Shape) {
			t.Errorf("%s: have %v", want, g)
		} else if d := largestDifference(t, g, want); d > 2e-5 {
			t.Errorf("%s differs by %g", want, d)
		}
	}
	for name := range have {
		t.Errorf("%s is not in PyTorch's state dict", name)
	}
}

func largestDifference(t *testing.T, a, b formats.Tensor) float64 {
	t.Helper()
	x, err := a.Load()
	y, err2 := b.Load()
	if err != nil || err2 != nil || x.DType != y.DType {
		t.Fatal(err, err2, x, y)
	}
	if x.DType != tensor.F32 {
		if !tensor.Equal(x, y) {
			return math.Inf(1)
		}
		return 0
	}
	most := 0.0
	for i, v := range x.F32() {
		most = max(most, math.Abs(float64(v)-float64(y.F32()[i])))
	}
	return most
}
