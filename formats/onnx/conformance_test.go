package onnx

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/internal/shareddata"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// opened reads a model. The error names what is not supported.
func opened(path string) (*models.Model, error) {
	f, err := Read(path, Options{})
	if err != nil {
		return nil, err
	}
	return f.Model, f.NoModel
}

// eval runs a model in float64 on x. The first axis of x is the batch.
func eval(m *models.Model, x tensor.Tensor) ([]tensor.Tensor, error) {
	main, err := graph.Eval(m.Graph.Main, m.Graph.State)
	if err != nil {
		return nil, err
	}
	state := map[string]tensor.Tensor{}
	for name, s := range m.State {
		if state[name] = s; s.DType == tensor.F32 {
			state[name] = wide(s)
		}
	}
	if x.DType == tensor.F32 {
		x = wide(x)
	}
	return ref.Eval64(main, state, []tensor.Tensor{x}, []int{x.Shape[0]})
}

// wide returns an f32 tensor as f64.
func wide(t tensor.Tensor) tensor.Tensor {
	out := tensor.New(tensor.F64, t.Shape...)
	for i, v := range t.F32() {
		out.F64()[i] = float64(v)
	}
	return out
}

// worst returns the largest difference between got, f64, and want, f32.
func worst(got, want tensor.Tensor) float64 {
	if !slices.Equal(got.Shape, want.Shape) {
		return math.Inf(1)
	}
	d := 0.0
	for i, v := range want.F32() {
		d = max(d, math.Abs(got.F64()[i]-float64(v)))
	}
	return d
}

// protoTensor reads a tensor file of ONNX's test cases.
func protoTensor(path string) (tensor.Tensor, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return tensor.Tensor{}, err
	}
	p := &onnxpb.TensorProto{}
	if err := proto.Unmarshal(b, p); err != nil {
		return tensor.Tensor{}, err
	}
	return load(p)
}

// TestConformance runs the backend test cases of ONNX.
func TestConformance(t *testing.T) {
	dirs, err := filepath.Glob(shareddata.File(t, "onnx-conformance") + "/*/*/model.onnx")
	if err != nil || len(dirs) < 50 {
		t.Fatalf("%d cases, %v", len(dirs), err)
	}
	passed := 0
	for _, path := range dirs {
		name := filepath.Base(filepath.Dir(path))
		err := runCase(filepath.Dir(path))
		if name == "test_operator_add_broadcast" { // doubles up to 1e199
			if err == nil || !strings.Contains(err.Error(), "beyond float32") {
				t.Errorf("%s: got error %v, want numbers beyond float32", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		passed++
	}
	t.Logf("%d cases: %d passed", len(dirs), passed)
}

// asSamples returns x as a batch of one sample if the whole input of the model is one
// sample; otherwise it returns x.
func asSamples(m *models.Model, x tensor.Tensor) tensor.Tensor {
	if slices.Equal(x.Shape, m.Input().Shape) {
		x.Shape = append([]int{1}, x.Shape...)
	}
	return x
}

// caseInput returns the input of a case. Several inputs are packed into one
// sample.
func caseInput(m *models.Model, dir string) (tensor.Tensor, error) {
	if m.Fields == nil {
		return protoTensor(filepath.Join(dir, "test_data_set_0/input_0.pb"))
	}
	var fields []tensor.Tensor
	for i, p := range m.Fields {
		x, err := protoTensor(filepath.Join(dir, fmt.Sprintf("test_data_set_0/input_%d.pb", i)))
		if err != nil {
			return x, err
		}
		if slices.Equal(x.Shape, p.Shape) {
			x = x.Reshape(append([]int{1}, p.Shape...)...)
		}
		fields = append(fields, x)
	}
	return m.Pack(fields)
}

func runCase(dir string) error {
	m, err := opened(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return err
	}
	x, err := caseInput(m, dir)
	if err != nil {
		return err
	}
	want, err := protoTensor(filepath.Join(dir, "test_data_set_0/output_0.pb"))
	if err != nil {
		return err
	}
	got, err := eval(m, asSamples(m, x))
	if err != nil {
		return err
	}
	if s := got[0].Shape; len(s) == len(want.Shape)+1 && s[0] == 1 { // the batch axis of a single sample
		got[0].Shape = s[1:]
	}
	if d := worst(got[0], want); !(d <= 1e-5) {
		return fmt.Errorf("output %v differs from %v by %g", got[0].Shape, want.Shape, d)
	}
	return nil
}
