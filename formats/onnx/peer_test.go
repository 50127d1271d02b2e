package onnx

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// needPeers skips a test without BNCTL_PEERS=1. Its tests need python3 with onnx, and node with onnxruntime-node
// in NODE_PATH.
func needPeers(t *testing.T) {
	t.Helper()
	if os.Getenv("BNCTL_PEERS") == "" {
		t.Skip("BNCTL_PEERS is not set; make test-peers installs ONNX's checker and ONNX Runtime and sets it")
	}
}

// written writes a model to a file.
func written(t *testing.T, m *models.Model) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, m); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// ort runs a model in ONNX Runtime and returns its outputs of f32 and i64 by name.
func ort(t *testing.T, model string, x tensor.Tensor) map[string]tensor.Tensor {
	t.Helper()
	raw := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(raw, x.Bytes, 0o644); err != nil {
		t.Fatal(err)
	}
	var dims []string
	for _, n := range x.Shape {
		dims = append(dims, strconv.Itoa(n))
	}
	types := map[tensor.DType]string{tensor.F32: "float32", tensor.U8: "uint8"}
	cmd := exec.Command("node", "testdata/ort.js", model, types[x.DType], strings.Join(dims, ","), raw)
	cmd.Stderr = os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		t.Fatalf("onnxruntime-node: %v", err)
	}
	var outputs map[string]struct {
		Type, Data string
		Dims       []int
	}
	if err := json.Unmarshal(answer, &outputs); err != nil {
		t.Fatal(err)
	}
	out := map[string]tensor.Tensor{}
	for name, o := range outputs {
		b, err := base64.StdEncoding.DecodeString(o.Data)
		if err != nil {
			t.Fatal(err)
		}
		v, err := tensor.FromBytes(map[string]tensor.DType{"float32": tensor.F32, "int64": tensor.I64}[o.Type], o.Dims, b)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = v.Clone()
	}
	return out
}

// compareORT checks that a written model passes ONNX's checker and has the same results in
// ONNX Runtime as in bnctl.
func compareORT(t *testing.T, m *models.Model) {
	t.Helper()
	path := written(t, m)
	check := "import onnx, sys; m = onnx.load(sys.argv[1]); onnx.checker.check_model(m, full_check=True)"
	if out, err := exec.Command("/usr/bin/python3", "-c", check, path).CombinedOutput(); err != nil {
		t.Fatalf("onnx.checker: %v\n%s", err, out)
	}
	x := ramp(m, 2)
	want, err := eval(m, x)
	if err != nil {
		t.Fatal(err)
	}
	got := ort(t, path, x)
	for i, o := range m.Graph.Main.Outputs {
		size := 1.0
		for _, v := range want[i].F64() {
			size = max(size, math.Abs(v))
		}
		if d := worst(want[i], got[o.Name]) / size; !(d <= 1e-5) {
			t.Errorf("output %s differs from ONNX Runtime's by %g", o.Name, d)
		} else {
			t.Logf("output %s: largest difference %.2g", o.Name, d)
		}
	}
}

func TestPeerWritten(t *testing.T) {
	needPeers(t)
	for _, name := range []string{"mlp-bn", "lenet-bn", "resnet20", "mobilenetv2"} {
		t.Run(name, func(t *testing.T) {
			o := models.Options{}
			if name == "mobilenetv2" {
				o.Input = models.Size{Height: 64, Width: 64, Channels: 3}
			}
			m, err := models.Build(name, o)
			if err != nil {
				t.Fatal(err)
			}
			if err := models.Init(m, 7); err != nil {
				t.Fatal(err)
			}
			compareORT(t, m)
		})
	}
	t.Run("every operation", func(t *testing.T) { compareORT(t, fromText(t, everyOp)) })
}

// TestPeerTorch reads exports of torchvision's networks by torch.onnx and compares the
// results. Networks for segmentation must give each pixel the same class, also if the file
// leaves the size open.
func TestPeerTorch(t *testing.T) {
	needPeers(t)
	dir := t.TempDir()
	if out, err := exec.Command("/usr/bin/python3", "testdata/torch_exports.py",
		dir).CombinedOutput(); err != nil {
		t.Fatalf("torch.onnx: %v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.onnx"))
	if err != nil || len(files) != 18 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		name, version, _ := strings.Cut(filepath.Base(path), "-")
		want, o := npy(t, filepath.Join(dir, name+".npy")), Options{}
		if version == "11.onnx" {
			o.Input = []int{3, want.Shape[2], want.Shape[3]}
		}
		f, err := Read(path, o)
		if err != nil || f.NoModel != nil {
			t.Errorf("%s: %v, %v", path, err, f)
			continue
		}
		out, err := eval(f.Model, ramp(f.Model, 1))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		size := 1.0
		for _, v := range want.F32() {
			size = max(size, math.Abs(float64(v)))
		}
		if d := worst(out[0], want) / size; !(d <= 1e-5) {
			t.Errorf("%s differs from PyTorch by %g", path, d)
		}
		if len(want.Shape) == 4 && !slices.Equal(maskOf(out[0]), maskOf(want)) {
			t.Errorf("%s gives other masks than PyTorch", path)
		}
	}
}

// maskOf returns the class of every pixel of logits [1][C][H][W].
func maskOf(logits tensor.Tensor) []int {
	pixels := logits.Shape[2] * logits.Shape[3]
	mask := make([]int, pixels)
	for p := range mask {
		for c := range logits.Shape[1] {
			if valueOf(logits, c*pixels+p) > valueOf(logits, mask[p]*pixels+p) {
				mask[p] = c
			}
		}
	}
	return mask
}

func valueOf(t tensor.Tensor, i int) float64 {
	if t.DType == tensor.F64 {
		return t.F64()[i]
	}
	return float64(t.F32()[i])
}
