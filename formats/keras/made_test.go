package keras

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// plain returns the input of testdata/make.py.
func plain(shape ...int) tensor.Tensor {
	x := tensor.New(tensor.F32, shape...)
	for i := range x.F32() {
		x.F32()[i] = float32(-1 + 2*float64(uint32(i)*2654435761)/(1<<32))
	}
	return x
}

// ramp returns the input of testdata/make.py: pictures have their channels first, other
// samples have the axes of the file.
func ramp(shape ...int) tensor.Tensor {
	x := plain(shape...)
	if len(shape) != 4 { // the shape has the batch
		return x
	}
	return channelsFirst(x)
}

// TestLayers compares every layer with the results of testdata/make.py.
func TestLayers(t *testing.T) {
	for _, c := range []struct {
		file, name, output string
		x                  tensor.Tensor
	}{
		{"layers.h5", "layers", "", ramp(2, 13, 11, 3)},
		{"lines.h5", "lines", "", ramp(2, 12, 5)},
		{"lines.keras", "lines", "", ramp(2, 12, 5)},
		{"lines-2.13.keras", "lines", "", ramp(2, 12, 5)},
		{"flat.h5", "flat", "", ramp(2, 6, 5)}, {"square.h5", "square", "", ramp(2, 4, 4)},
		{"sequence.h5", "sequence", "", ramp(2, 7, 3)}, {"box.h5", "box", "", ramp(2, 2, 3, 4, 5)},
		{"base.h5", "base", "", ramp(2, 8, 8, 2)},
		{"first.h5", "first", "", plain(2, 2, 8, 7)},
		{"turned.h5", "turned", "depthwiseconv2d_1", ramp(2, 5, 4, 3)},
		{"turned-theano.h5", "turned", "depthwiseconv2d_1", ramp(2, 5, 4, 3)},
		{"turned-keras1.h5", "turned-keras1", "conv2dtranspose_1", ramp(2, 5, 4, 3)},
	} {
		m := model(t, "testdata/"+c.file)
		want := npy(t, "testdata/"+c.name+".npy")
		if len(want.Shape) == 4 {
			want = channelsFirst(want)
		}
		near(t, predict(t, m, c.output, c.x), want, 1e-6)
	}
}

// TestSame reads one model in every form in which Keras has ever written it.
func TestSame(t *testing.T) {
	base := model(t, "testdata/base.h5")
	want := string(base.Graph.Text())
	files, err := filepath.Glob("testdata/same-*")
	if err != nil || len(files) < 13 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	wrappers := map[string]string{"same-multi-gpu-2.h5": "multi_gpu_model(gpus=2)",
		"same-multi-gpu-8.h5": "multi_gpu_model(gpus=8)", "same-make-parallel.h5": "make_parallel(4)"}
	for _, path := range files {
		f, err := Read(path, Options{})
		if err == nil {
			err = f.NoModel
		}
		if err != nil {
			t.Error(err)
			continue
		}
		names := strings.NewReplacer(`graph "sequential"`, `graph "model"`, "conv2d_1_input", "input_1")
		got := names.Replace(string(f.Model.Graph.Text()))
		if got != want {
			t.Errorf("%s: the graph is\n%s\nwant\n%s", path, got, want)
		}
		for name, w := range base.State {
			if !tensor.Equal(f.Model.State[name], w) {
				t.Errorf("%s: tensor %s differs", path, name)
			}
		}
		if len(f.Tensors) != 7 {
			t.Errorf("%s: %d tensors, want 7", path, len(f.Tensors))
		}
		if w := wrappers[filepath.Base(path)]; w != strings.Join(f.Wrappers, ",") {
			t.Errorf("%s: wrappers are %q, want %q", path, f.Wrappers, w)
		}
	}
}

// TestInside reads a nested model, called twice with one set of weights, and as the first
// layer of a Sequential model.
func TestInside(t *testing.T) {
	x := ramp(2, 8, 8, 2)
	base := model(t, "testdata/base.h5")
	once := predict(t, base, "", x)
	half := tensor.New(tensor.F32, x.Shape...)
	for i, v := range x.F32() {
		half.F32()[i] = max(v, v/2)
	}
	again := predict(t, base, "", half)
	twice := model(t, "testdata/inside-twice.h5")
	want := tensor.New(tensor.F32, 2, 4)
	for i := range once {
		want.F32()[i] = float32(once[i] + again[i])
	}
	near(t, predict(t, twice, "", x), want, 1e-6)
	if n := len(twice.State); n != len(base.State) {
		t.Errorf("%d tensors, want %d: weights are shared", n, len(base.State))
	}
	reshaped := model(t, "testdata/inside-sequential.h5")
	for i := range once {
		want.F32()[i] = float32(once[i])
	}
	near(t, predict(t, reshaped, "", x), want, 1e-6) // (2, 2) is in the file's order, because it is not a picture
	near(t, predict(t, model(t, "testdata/inside-windows.keras"), "", x), want, 1e-6)
}

// TestWeightsAlone checks that a file without a description has tensors and no model, and
// that it has a model if the caller passes a description.
func TestWeightsAlone(t *testing.T) {
	want := []string{"conv2d_1/kernel:0", "batch_normalization_1/gamma:0", "batch_normalization_1/beta:0",
		"batch_normalization_1/moving_mean:0", "batch_normalization_1/moving_variance:0", "dense_1/kernel:0",
		"dense_1/bias:0"}
	for _, c := range []struct{ file, wrapper string }{{"weights.h5", ""},
		{"multi-gpu-weights.h5", "multi_gpu_model: model"}} {
		f, err := Read("testdata/"+c.file, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, x := range f.Tensors {
			names = append(names, x.Name)
		}
		slices.Sort(names)
		if w := slices.Sorted(slices.Values(want)); f.Model != nil || !slices.Equal(names, w) {
			t.Errorf("%s: model %v, tensors %q, want none and %q", c.file, f.Model, names, w)
		}
		if got := strings.Join(f.Wrappers, ","); got != c.wrapper {
			t.Errorf("%s: wrappers %q, want %q", c.file, got, c.wrapper)
		}
		config, err := os.ReadFile("testdata/base.json")
		if err != nil {
			t.Fatal(err)
		}
		if f, err = Read("testdata/"+c.file, Options{Description: config}); err != nil || f.NoModel != nil {
			t.Fatalf("%s with a description: %v, %v", c.file, err, f.NoModel)
		}
		for name, w := range model(t, "testdata/base.h5").State {
			if !tensor.Equal(f.Model.State[name], w) {
				t.Errorf("%s with a description: tensor %s differs", c.file, name)
			}
		}
	}
}

// TestOutputNames: the output of a classifier keeps the name of its layer, and
// comes before the logits that are added to it.
func TestOutputNames(t *testing.T) {
	for file, want := range map[string]string{"base.h5": "dense_1 logits ", "layers.h5": "dense_2 logits "} {
		got := ""
		for _, o := range model(t, "testdata/"+file).Graph.Main.Outputs {
			got += o.Name + " "
		}
		if got != want {
			t.Errorf("%s: outputs %s, want %s", file, got, want)
		}
	}
}
