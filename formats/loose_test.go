package formats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// TestLooseBeside leaves out a tensor only if its name shows its purpose and the model has
// no layer of that name.
func TestLooseBeside(t *testing.T) {
	m, err := models.Build("mlp-bn", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"criterion.weight": "part of a loss", "val_acc.tp": "part of a metric", "epoch": "a counter",
		"torch_rng_state": "state of random numbers", "optimizer.state.0.exp_avg": "state of the training",
		"aux_classifier.0.weight": "the auxiliary head, which has a use in training alone",
		"fc9.weight":              "", "alpha": "", "scale": "", "mean": "", "teacher.fc1.weight": "", "metric.weight": "",
		"bn1.acc": "", // the model has a bn1
	} {
		if got := looseBeside(named(name).Tensors[0], m); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestExcludeNonWeights leaves out tensors that belong to no layer of any architecture,
// unless a kept tensor has the same prefix, the rest would be empty, or a graph names them.
func TestExcludeNonWeights(t *testing.T) {
	for _, c := range []struct{ format, in, want, left string }{
		{"pytorch zip", "a.w criterion.weight:4 best_acc1", "a.w", "[criterion.weight best_acc1]"},
		{"safetensors", "a.w criterion.weight:4,2 step", "a.w criterion.weight step", "[]"},
		{"safetensors", "a.w loss.weight:4 loss.pos_weight:4", "a.w", "[loss.weight loss.pos_weight]"},
		{"safetensors", "a.w loss.weight:4 loss.vgg.bias:4", "a.w loss.weight loss.vgg.bias", "[]"},
		{"tensorflow bundle", "a/w m.a.loss/weight:4", "a/w", "[m.a.loss/weight]"},
		{"safetensors", "criterion.weight:4 best_acc1", "criterion.weight best_acc1", "[]"},
		{"onnx", "a.w criterion.weight:4", "a.w criterion.weight", "[]"},
	} {
		f := &File{Format: c.format, Tensors: ones(strings.Fields(c.in)...)}
		ExcludeNonWeights(f)
		var left []string
		for _, g := range f.Left {
			left = append(left, g.Name)
		}
		if got := namesOf(f); got != c.want || fmt.Sprint(left) != c.left {
			t.Errorf("%s: kept %s, left out %s", c.in, got, left)
		}
	}
	f := &File{Format: "safetensors", Tensors: []Tensor{InMemory("a.w", tensor.New(tensor.F32, 2)),
		InMemory("val_acc.tp", tensor.New(tensor.I64, 3))}, Model: modelOf(t, oneLayer)}
	if ExcludeNonWeights(f); len(f.Left) != 0 {
		t.Errorf("of a graph: %v left out", f.Left)
	}
}
