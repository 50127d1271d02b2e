package models_test

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
)

// Inner values become the outputs, and nodes that they do not need are removed.
func TestWithFeatures(t *testing.T) {
	m, err := models.Build("lenet-bn", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := models.Init(m, 1); err != nil {
		t.Fatal(err)
	}
	f := m.Graph.Main
	inner := f.Values[f.Nodes[len(f.Nodes)-3].Out[0]].Name
	got, err := models.WithFeatures(m, []string{inner})
	if err != nil {
		t.Fatal(err)
	}
	if o := got.Graph.Main.Outputs; len(o) != 1 || o[0].Name != strings.ReplaceAll(inner, ".", "_") {
		t.Errorf("outputs %v, want %s", o, inner)
	}
	if len(got.State) >= len(m.State) || got.Labels != nil {
		t.Errorf("%d of %d tensors are left, labels %v", len(got.State), len(m.State), got.Labels)
	}
	for name, want := range map[string]string{"bn9": "no layer of that name", "": "no layer", f.Values[0].Name: "u8"} {
		if _, err := models.WithFeatures(m, []string{name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", name, err, want)
		}
	}
	if _, err := models.WithFeatures(m, []string{inner, inner}); err == nil {
		t.Error("the same value twice is no error")
	}
}
