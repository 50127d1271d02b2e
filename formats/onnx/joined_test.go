package onnx

import (
	"strings"
	"testing"
)

// TestJoined: activations that exporters write as several nodes become one operation, and
// the constants of these nodes do not become weights of the model. (TestCases compares such
// files with ONNX Runtime.)
func TestJoined(t *testing.T) {
	for name, want := range map[string]string{
		"gelu-20": "gelu(w)", "gelu-20-tanh": "gelu_tanh(w)", "mish-18": "mish(w)", "erf": "erf(w)",
		"gelu-parts": "gelu(w, halve_last=true)", "gelu-parts-tanh": "gelu_tanh(w)", "mish-parts": "mish(w)",
	} {
		m, err := opened("testdata/cases/" + name + ".onnx")
		if err != nil {
			t.Fatal(err)
		}
		text := string(m.Graph.Text())
		if len(m.Graph.Main.Nodes) != 2 || !strings.Contains(text, "y = "+want) || len(m.State) > 0 {
			t.Errorf("%s became\n%swith %d tensors, want y = %s", name, text, len(m.State), want)
		}
	}
}

// TestPartsComeBack: an activation that is written as several nodes is read as one
// operation again.
func TestPartsComeBack(t *testing.T) {
	for _, node := range []string{"silu(x)", "mish(x)", "gelu(x)", "gelu(x, halve_last=true)", "gelu_tanh(x)",
		"gelu_tanh(x, halve_last=true)"} {
		m := fromText(t, "bnctl graph 1\ngraph \"g\"\nfunc main(x rows f32[3,4,4]) {\n  y = "+node+
			"\n  return y rows = y\n}\n")
		got := back(t, m).Model
		if text := textOf(got.Graph); len(got.Graph.Main.Nodes) != 1 || !strings.Contains(text, " = "+node) {
			t.Errorf("%s comes back as\n%s", node, text)
		}
	}
}

// TestGeluRefuses refuses a value of the attribute approximate other than none and tanh.
func TestGeluRefuses(t *testing.T) {
	third := op("Gelu", "x", "y", textAttr("approximate", "sigmoid"))
	got := became(readModel(t, modelOf(20, 0, []int64{4}, nil, third)))
	if !strings.Contains(got, `approximate is "sigmoid", want none or tanh`) {
		t.Error(got)
	}
}
