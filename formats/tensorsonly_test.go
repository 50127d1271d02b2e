package formats

import (
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// TestTensorsOnly: without its graph a file has the same tensors.
func TestTensorsOnly(t *testing.T) {
	for _, path := range []string{"keras/testdata/base.h5", "keras/testdata/same-archive.keras",
		"keras/testdata/same-multi-gpu-2.h5", "onnx/testdata/cases/batchnorm-15.onnx",
		"caffe/testdata/cases/network.caffemodel"} {
		whole, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer whole.Close()
		bare, err := Open(path, Options{TensorsOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer bare.Close()
		if n := len(whole.Tensors); whole.Model == nil || bare.Model != nil || n == 0 || len(bare.Tensors) != n {
			t.Errorf("%s: model %v and %v, %d tensors and %d", path, whole.Model != nil, bare.Model != nil,
				len(whole.Tensors), len(bare.Tensors))
			continue
		}
		for i, x := range whole.Tensors {
			y := bare.Tensors[i]
			a, err1 := x.Load()
			b, err2 := y.Load()
			if err1 != nil || err2 != nil || x.Name != y.Name || !tensor.Equal(a, b) {
				t.Errorf("%s: %v and %v differ (%v, %v)", path, x, y, err1, err2)
			}
		}
	}
}
