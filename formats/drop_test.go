package formats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
)

func TestDrop(t *testing.T) {
	for _, c := range []struct{ in, patterns, want, unmatched string }{
		{"a.w b.w", "b.*", "a.w", "[]"},
		{"a.w b.w b.c.w", "b.*", "a.w", "[]"},
		{"a/w b/c/w", "b/*", "a/w", "[]"}, // as TensorFlow names them
		{"a.w b.w", "?.w", "", "[]"},
		{"a.w", "b.* a", "a.w", "[b.* a]"},
	} {
		f := named(strings.Fields(c.in)...)
		unmatched, err := drop(f, strings.Fields(c.patterns))
		if got := namesOf(f); err != nil || got != c.want || fmt.Sprint(unmatched) != c.unmatched {
			t.Errorf("%s without %s: %s, unmatched %s, %v", c.in, c.patterns, got, unmatched, err)
		}
	}
	if _, err := drop(named("a"), []string{"["}); err == nil {
		t.Error("a bad pattern was taken")
	}
}

// A tensor is left out by itself only where its name says what it is and the
// model has nothing in its place.
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
