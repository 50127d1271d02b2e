package keras

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/formats/keras/internal/hdf5"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/internal/shareddata"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

func model(t *testing.T, path string) *models.Model {
	t.Helper()
	f, err := Read(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Model == nil {
		t.Fatalf("%s: no model: %v", path, f.NoModel)
	}
	return f.Model
}

func npy(t *testing.T, path string) tensor.Tensor {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, err := data.ReadNPY(f)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// predict returns an output of a model for x; its first axis is the batch.
func predict(t *testing.T, m *models.Model, output string, x tensor.Tensor) []float64 {
	t.Helper()
	main, err := graph.Eval(m.Graph.Main, m.Graph.State)
	if err != nil {
		t.Fatal(err)
	}
	state := map[string]tensor.Tensor{}
	for name, s := range m.State {
		state[name] = wide(s)
	}
	out, err := ref.Eval64(main, state, []tensor.Tensor{wide(x)}, []int{x.Shape[0]})
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range m.Graph.Main.Outputs {
		if o.Name == output || output == "" {
			return out[i].F64()
		}
	}
	t.Fatalf("no output %q", output)
	return nil
}

// wide returns an f32 tensor as f64.
func wide(t tensor.Tensor) tensor.Tensor {
	out := tensor.New(tensor.F64, t.Shape...)
	for i, v := range t.F32() {
		out.F64()[i] = float64(v)
	}
	return out
}

// near compares got with a tensor of want, element by element.
func near(t *testing.T, got []float64, want tensor.Tensor, tolerance float64) {
	t.Helper()
	w, err := want.ToF32()
	if err != nil || w.Count() != len(got) {
		t.Fatalf("%d values, want %v, %v", len(got), want, err)
	}
	worst := 0.0
	for i, v := range w.F32() {
		worst = max(worst, math.Abs(got[i]-float64(v)))
	}
	if !(worst <= tolerance) {
		t.Errorf("the largest difference is %g, want at most %g", worst, tolerance)
	}
	t.Logf("largest difference %.2g", worst)
}

// channelsFirst turns (N, H, W, C) into [N, C, H, W].
func channelsFirst(x tensor.Tensor) tensor.Tensor { return permuted(x, []int{0, 3, 1, 2}) }

// TestResnet8 compares the model of MLPerf Tiny with Keras's results for every tenth of 500
// images. It reads the pixels without scaling.
func TestResnet8(t *testing.T) {
	m := model(t, shareddata.File(t, "checkpoints/keras/mlperf_tiny_resnet8.h5"))
	all, err := os.ReadFile(shareddata.File(t, "cifar10/cifar10_test500_pil.bin"))
	if err != nil {
		t.Fatal(err)
	}
	probs := npy(t, shareddata.File(t, "cifar10/mlperftiny_resnet8_probs_test500_pil.npy"))
	const record, step = 3073, 10
	n := len(all) / record / step
	x, want := tensor.New(tensor.F32, n, 3, 32, 32), tensor.New(tensor.F32, n, 10)
	for i := range n {
		for j, p := range all[i*step*record+1 : (i*step+1)*record] {
			x.F32()[i*(record-1)+j] = float32(p)
		}
		copy(want.F32()[10*i:], probs.F32()[10*i*step:][:10])
	}
	near(t, predict(t, m, "", x), want, 1e-5)
}

// TestMultiGPU checks that a file of multi_gpu_model(gpus=2), written by Keras 2.2.4, has
// the same graph and the same weights as the file of the model without the wrapper.
func TestMultiGPU(t *testing.T) {
	plain := model(t, shareddata.File(t, "checkpoints/keras/mlperf_tiny_resnet8.h5"))
	f, err := Read(shareddata.File(t, "checkpoints/keras/resnet8_multi_gpu2_keras2.2.4.h5"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Wrappers) != 1 || f.Wrappers[0] != "multi_gpu_model(gpus=2)" {
		t.Errorf("wrappers are %q", f.Wrappers)
	}
	if got, want := string(f.Model.Graph.Text()), string(plain.Graph.Text()); got != want {
		t.Errorf("the graph is\n%s\nwant\n%s", got, want)
	}
	for name, want := range plain.State {
		if !tensor.Equal(f.Model.State[name], want) {
			t.Errorf("tensor %s differs", name)
		}
	}
	if f.Model.Architecture != plain.Architecture {
		t.Errorf("architecture %q, want %q", f.Model.Architecture, plain.Architecture)
	}
}

// TestMiniXception uses the input defined in INPUTS.md.
func TestMiniXception(t *testing.T) {
	file := shareddata.File(t, "checkpoints/keras") + "/fer2013_mini_XCEPTION.102-0.66"
	x := tensor.New(tensor.F32, 4, 64, 64, 1)
	for i := range x.F32() {
		x.F32()[i] = float32(-1 + 2*float64(uint32(i)*2654435761)/(1<<32))
	}
	m := model(t, file+".hdf5")
	near(t, predict(t, m, "", channelsFirst(x)), npy(t, file+".out.npy"), 1e-5)
}

func TestCNNBatchNorm(t *testing.T) {
	dir := shareddata.File(t, "checkpoints/keras/dl4j_cnn_batch_norm")
	m := model(t, filepath.Join(dir, "cnn_batch_norm.h5"))
	x, err := npy(t, filepath.Join(dir, "input.npy")).ToF32()
	if err != nil {
		t.Fatal(err)
	}
	near(t, predict(t, m, "", channelsFirst(x)), npy(t, filepath.Join(dir, "predictions.npy")), 1e-5)
}

func mustOpen(t *testing.T, path string) *hdf5.File {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h, err := hdf5.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return h
}
