package bnctl_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/modelfile/export"
	"github.com/bnctl/bnctl/tensor"
)

// TestComputedWeightsInONNX trains networks that compute weights from other weights for one step, and exports
// them to ONNX. The ONNX files give the same logits as PyTorch after the same step.
func TestComputedWeightsInONNX(t *testing.T) {
	for _, name := range []string{"derived", "shared", "buffered"} {
		base := "testdata/trainrecipes/" + name
		file := filepath.Join(t.TempDir(), "net.onnx")
		o := export.Options{Input: trainStepTo(t, base), Output: file}
		if _, err := export.File(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		want, err := data.ReadNPYFile(base + ".logits.npy")
		if err != nil {
			t.Fatal(err)
		}
		got := logitsOf(t, file, base+".x.npy")
		for i, v := range want.F32() {
			if d := math.Abs(float64(v - got[i])); !(d < 2e-5) {
				t.Errorf("%s: logit %d is %g, want %g", name, i, got[i], v)
			}
		}
	}
}

// logitsOf returns the logits of all rows of an array.
func logitsOf(t *testing.T, model, array string) []float32 {
	t.Helper()
	x, err := data.ReadNPYFile(array)
	if err != nil {
		t.Fatal(err)
	}
	p, err := bnctl.Load(model, bnctl.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	outputs, err := p.Run(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	if outputs[0].DType != tensor.F32 {
		t.Fatal(outputs[0])
	}
	return outputs[0].F32()
}
