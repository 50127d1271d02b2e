package onnx

import (
	"os"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/formats/torch"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/internal/shareddata"
	"github.com/bnctl/bnctl/tensor"
)

const rfb = "checkpoints/onnx/version-RFB-320.onnx"

// TestRFBTensors: the face detector has the tensors of the PyTorch checkpoint
// that it was exported from.
func TestRFBTensors(t *testing.T) {
	f, err := Read(shareddata.File(t, rfb), Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := torch.Read(shareddata.File(t, "checkpoints/pytorch/version-RFB-320.pth"), torch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if len(f.Tensors) != 247 || len(p.Tensors) != 244 { // three Constants hold the positions of the anchors
		t.Fatalf("%d and %d tensors, want 247 and 244", len(f.Tensors), len(p.Tensors))
	}
	for _, want := range p.Tensors {
		have, ok := f.Tensor(want.Name)
		if !ok {
			t.Errorf("tensor %s is missing", want.Name)
			continue
		}
		a, err := have.Load()
		if err != nil {
			t.Fatal(err)
		}
		b, err := want.Load()
		if err != nil {
			t.Fatal(err)
		}
		if a.DType != b.DType || !slices.Equal(a.Bytes, b.Bytes) {
			t.Errorf("tensor %s is %v, want %v with the same bits", want.Name, a, b)
		}
	}
	norms := 0
	for i := range f.Model.Graph.Main.Nodes {
		if f.Model.Graph.Main.Nodes[i].Op == graph.BatchNorm {
			norms++
		}
	}
	if norms != 35 {
		t.Errorf("%d batch norms, want 35", norms)
	}
}

// TestRFBOutputs compares the outputs with those of ONNX Runtime. testdata/rfb.py stored
// every 40th row of them.
func TestRFBOutputs(t *testing.T) {
	f, err := Read(shareddata.File(t, rfb), Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := eval(f.Model, ramp(f.Model, 1))
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range f.Model.Graph.Main.Outputs {
		want := npy(t, "testdata/rfb_"+o.Name+".npy")
		columns := want.Shape[1]
		got := tensor.New(tensor.F64, want.Shape...)
		for row := range want.Shape[0] {
			copy(got.F64()[row*columns:][:columns], out[i].F64()[40*row*columns:])
		}
		if d := worst(got, want); !(d <= 1e-4) {
			t.Errorf("%s differs by %g", o.Name, d)
		} else {
			t.Logf("%s: largest difference %.2g", o.Name, d)
		}
	}
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
