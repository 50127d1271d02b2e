package onnx

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// TestOutwardNames: inputs and outputs keep the colons that TensorFlow and PyTorch write.
func TestOutwardNames(t *testing.T) {
	for name, want := range map[string]string{"Identity:0": "Identity:0", "onnx::Concat_24": "onnx::Concat_24",
		":0": "0", "a b": "a_b", "é:1": "1", "_": "output", "": "output", "::": "output",
		strings.Repeat("n", 150) + ":0": strings.Repeat("n", 128)} {
		if got := outwardName(name, "output"); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
	m := modelOf(17, 0, []int64{2}, nil, op("Relu", "x:0", "r"), op("Neg", "r", "y:0"))
	m.Graph.Input[0].Name = "x:0"
	m.Graph.Output = append(m.Graph.Output, &onnxpb.ValueInfoProto{Name: "r"})
	f := readModel(t, m)
	if f.NoModel != nil {
		t.Fatal(f.NoModel)
	}
	main := f.Model.Graph.Main
	got := main.Values[main.Inputs[0]].Name + " " + main.Outputs[0].Name + " " + main.Outputs[1].Name
	if want := "x:0 y:0 r"; got != want {
		t.Errorf("input and outputs are %s, want %s", got, want)
	}
	if back(t, f.Model).Model.Graph.Main.Outputs[0].Name != "y:0" {
		t.Error("the output of what is written has another name")
	}
}
