package formats

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// TestFaceDetector reads the same network from PyTorch and from ONNX.
func TestFaceDetector(t *testing.T) {
	a, err := Open(checkpoint(t, "pytorch/version-RFB-320.pth"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := Open(checkpoint(t, "onnx/version-RFB-320.onnx"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	equal := 0
	for _, x := range a.Tensors {
		y, ok := b.Tensor(x.Name)
		if !ok {
			t.Errorf("%v is not in the ONNX file", x)
			continue
		}
		u, err1 := x.Load()
		v, err2 := y.Load()
		if err1 != nil || err2 != nil || !tensor.Equal(u, v) {
			t.Errorf("%v and %v differ (%v, %v)", x, y, err1, err2)
			continue
		}
		equal++
	}
	if equal != 244 || len(b.Tensors) != 247 { // three Constants hold the positions of the anchors
		t.Errorf("%d of %d tensors are equal, want 244 of 247", equal, len(b.Tensors))
	}
}

// TestHealthyFiles examines every checkpoint of the shared data: all are healthy.
func TestHealthyFiles(t *testing.T) {
	norms := map[string]int{
		"keras/fer2013_mini_XCEPTION.102-0.66.hdf5": 14, "keras/mlperf_tiny_resnet8.h5": 7,
		"keras/resnet8_multi_gpu2_keras2.2.4.h5": 7, "keras/dl4j_cnn_batch_norm/cnn_batch_norm.h5": 1,
		"onnx/version-RFB-320.onnx": 35, "pytorch/version-RFB-320.pth": 35,
		"pytorch/RFB-320-masked_face-v2.pth": 35,
		"pytorch/2.7_80x80_MiniFASNetV2.pth": 50, "pytorch/resnet20-12fca82f.th": 19,
		"pytorch/resnet56-4bfd9763.th": 55,
		"tensorflow/kws_ref_model":     9,
	}
	for name, want := range norms {
		f, err := Open(checkpoint(t, name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got, err := Norms(f)
		if err != nil || len(got) != want {
			t.Errorf("%s: %d batch norms, want %d; %v", name, len(got), want, err)
		}
		for _, x := range bn.Examine(got) {
			if x.Severity == bn.Fault {
				t.Errorf("%s: %+v", name, x)
			}
		}
	}
}

// TestRoundTrips writes every model of the zoo and reads it back.
func TestRoundTrips(t *testing.T) {
	for _, a := range models.Architectures() {
		if large(a) && os.Getenv("BNCTL_PEERS") == "" {
			continue // tested with the peers
		}
		m, err := models.Build(a.Name, models.Options{Classes: 3})
		if err != nil {
			t.Fatal(err)
		}
		number(m)
		as := m // the expected architecture of a file of tensors alone
		if a.SameAs != "" {
			if as, err = models.Build(a.SameAs, models.Options{Classes: 3}); err != nil {
				t.Fatal(err)
			}
		}
		for _, ending := range []string{".pth", ".safetensors", ".onnx"} {
			back, err := throughFile(t, m, "model"+ending)
			if err != nil {
				t.Errorf("%s%s: %v", a.Name, ending, err)
				continue
			}
			for name, x := range m.State {
				if !tensor.Equal(x, back.State[name]) {
					t.Errorf("%s%s: %s differs", a.Name, ending, name)
				}
			}
			if ending != ".onnx" && string(back.Graph.Text()) != string(as.Graph.Text()) {
				t.Errorf("%s%s: another graph", a.Name, ending)
			}
		}
	}
}

// large reports whether the files of a network are large, or whether a smaller network of
// its family is tested instead.
func large(a models.Architecture) bool {
	small := []string{"mobilenetv3-small", "shufflenet-v2-x1-0", "squeezenet1-1"}
	switch a.Family {
	case "small", "cifar-resnet", "segmentation":
		return false
	}
	before := []string{"resnet18", "resnet50-v1", "mobilenetv2"}
	return !slices.Contains(small, a.Name) && !slices.Contains(before, a.Name)
}

// number fills the state of a model with the numbers 1, 2, 3 and so on.
func number(m *models.Model) {
	next := float32(1)
	for _, s := range m.Graph.State {
		v := tensor.New(s.DType, s.Shape...)
		for i := range v.F32() {
			v.F32()[i] = next
			next++
		}
		m.State[s.Name] = v
	}
}

// throughFile exports a model and opens the file.
func throughFile(t *testing.T, m *models.Model, name string) (*models.Model, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if _, err := Export(path, m, ExportOptions{}); err != nil {
		return nil, err
	}
	defer os.Remove(path)
	f, err := Open(path, Options{})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Template(f, nil)
}

// TestTensorFlowTurns fills a model with the weights of a checkpoint that has its kernels
// channels last.
func TestTensorFlowTurns(t *testing.T) {
	f, err := Open("tensorflow/testdata/cases/replicas.index", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, table := builder()
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{2, 4, 4}})
	c := b.Op(graph.Conv, "c", []graph.Value{x, param(b, "conv/kernel", graph.Weight, 3, 2, 1, 2)})
	y := b.Op(graph.ReduceMean, "m", []graph.Value{c}, "axes", []int{1, 2})
	m := finish(t, b, table, y)
	if _, err := apply(f, m); err == nil || !strings.Contains(err.Error(),
		"2 tensors fit nothing (bn/moving_mean f32[2]") {
		t.Errorf("got %v", err)
	}
	f.Tensors = f.Tensors[2:] // only the kernel
	full, err := apply(f, m)
	if err != nil {
		t.Fatal(err)
	}
	// The elements of the kernel (h, w, in, out) = (1, 2, 2, 3) are 0, 1, 2 and so on, so that
	// output 0 and input 0 have the elements 0 and 6.
	if got := full.State["conv/kernel"].F32()[:2]; got[0] != 0 || got[1] != 6 {
		t.Errorf("got %v", got)
	}
}
