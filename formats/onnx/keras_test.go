package onnx

import (
	"math"
	"testing"

	"github.com/bnctl/bnctl/formats/keras"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/internal/shareddata"
	"github.com/bnctl/bnctl/models"
)

func fromKeras(t *testing.T, path string) *models.Model {
	t.Helper()
	f, err := keras.Read(path, keras.Options{})
	if err == nil {
		err = f.NoModel
	}
	if err != nil {
		t.Fatal(err)
	}
	return f.Model
}

// TestFromKeras: models of Keras, written as ONNX, compute the same when they
// are read, and their batch norms still keep the biased variance.
func TestFromKeras(t *testing.T) {
	for _, name := range []string{"base", "layers", "lines", "inside-twice"} {
		m := fromKeras(t, "../keras/testdata/"+name+".h5")
		got := back(t, m).Model
		x := ramp(m, 2)
		want, err := eval(m, x)
		if err != nil {
			t.Fatal(err)
		}
		have, err := eval(got, x)
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range m.Graph.Main.Outputs {
			if got.Graph.Main.Outputs[i].Name != o.Name {
				t.Errorf("%s: output %d is called %s, want %s", name, i, got.Graph.Main.Outputs[i].Name, o.Name)
			}
			for k, v := range want[i].F64() {
				if d := math.Abs(v - have[i].F64()[k]); !(d < 1e-6) {
					t.Fatalf("%s: output %s differs at %d: %g, want %g", name, o.Name, k, have[i].F64()[k], v)
				}
			}
		}
		for i := range got.Graph.Main.Nodes {
			if n := &got.Graph.Main.Nodes[i]; n.Op == graph.BatchNorm && n.Text("variance") != "biased" {
				t.Errorf("%s: batch norm %s keeps the %s variance", name, got.Graph.Main.NodeName(n), n.Text("variance"))
			}
		}
	}
}

// TestPeerFromKeras is like TestFromKeras but in ONNX Runtime, with real models.
func TestPeerFromKeras(t *testing.T) {
	needPeers(t)
	for _, path := range []string{"../keras/testdata/layers.h5", "../keras/testdata/lines.h5",
		shareddata.File(t, "checkpoints/keras/mlperf_tiny_resnet8.h5"),
		shareddata.File(t, "checkpoints/keras/fer2013_mini_XCEPTION.102-0.66.hdf5"),
		shareddata.File(t, "checkpoints/keras/dl4j_cnn_batch_norm/cnn_batch_norm.h5")} {
		t.Run(path, func(t *testing.T) { compareORT(t, fromKeras(t, path)) })
	}
}
