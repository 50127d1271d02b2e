package models

import (
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
)

// scored returns a model of two scores. end has the last lines of its graph.
func scored(t *testing.T, end string) *Model {
	t.Helper()
	g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "tiny"
state w f32[2,3] weight he_normal(0)
func main(x rows f32[3]) {
  z = dense(x, @w)
` + end + "\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := Init(m, 1); err != nil {
		t.Fatal(err)
	}
	return m
}

// Calibrated adds one product after the logits, whatever follows them, and Uncalibrated
// restores the graph.
func TestCalibrated(t *testing.T) {
	for name, c := range map[string]struct{ end, want string }{
		"logits":        {"  return logits rows = z", "return logits rows = calibrated"},
		"probabilities": {"  p = softmax(z, axis=0)\n  return p rows = p", "softmax(calibrated"},
		"logarithms":    {"  p = log_softmax(z, axis=0)\n  return p rows = p", "log_softmax(calibrated"},
		"labels":        {"  p = sigmoid(z)\n  return p rows = p", "sigmoid(calibrated"},
		"both": {"  p = softmax(z, axis=0)\n  return z rows = z\n  return p rows = p",
			"softmax(calibrated"},
	} {
		m := scored(t, c.end)
		once, err := Calibrated(m, 0.5)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		twice, err := Calibrated(once, 0.8)
		text := string(twice.Graph.Text())
		by := float64(float32(0.4))
		if err != nil || !strings.Contains(text, c.want) || strings.Count(text, "affine(") != 1 ||
			math.Abs(twice.Temperature()-1/by) > 1e-6 {
			t.Errorf("%s: temperature %g, %v\n%s", name, twice.Temperature(), err, text)
		}
		for _, o := range twice.Graph.Main.Outputs {
			if twice.Graph.Main.Values[o.Value].Name == "z" {
				t.Errorf("%s: output %s is not calibrated", name, o.Name)
			}
		}
		plain, err := Uncalibrated(twice)
		if err != nil || string(plain.Graph.Text()) != string(m.Graph.Text()) || m.Temperature() != 1 {
			t.Errorf("%s: %v\n%s", name, err, plain.Graph.Text())
		}
	}
	if same, err := Uncalibrated(scored(t, "  return logits rows = z")); err != nil || same.Temperature() != 1 {
		t.Errorf("a model without a temperature: %v", err)
	}
	_, err := Calibrated(scored(t, "  p = hard_sigmoid(z, alpha=0.2, beta=0.5)\n  return p rows = p"), 2)
	if err == nil || !strings.Contains(err.Error(), "nothing to calibrate") {
		t.Errorf("hard sigmoids: %v", err)
	}
}
