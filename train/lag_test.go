package train

import (
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize"
	"math"
	"strings"
	"testing"
)

// A checkpoint in the middle of a period has the distance of its replicas from their mean,
// which is computed here.
func TestLagOf(t *testing.T) {
	b := newSyncBench(t, "periodic:3")
	b.recipe.Epochs, b.recipe.Steps = 0, 5
	k, err := serialize.ReadCheckpoint(b.checkpointOf())
	if err != nil {
		t.Fatal(err)
	}
	lag, err := progress.LagOf(k)
	if err != nil {
		t.Fatal(err)
	}
	want := progress.Lag{Steps: 2, Replicas: 4}
	for r := range 4 {
		for name, own := range k.Set(serialize.WeightSet(r)).Tensors {
			if strings.HasPrefix(name, "velocity/") || strings.Contains(name, "running") {
				continue
			}
			for i, v := range own.F32() {
				if d := math.Abs(float64(v) - float64(k.State[name].F32()[i])); d > want.Largest {
					want.Largest, want.Tensor = d, name
				}
			}
		}
	}
	if *lag != want || want.Largest == 0 {
		t.Errorf("%+v, want %+v", *lag, want)
	}
	recipeText, progressText := k.Recipe, k.Progress
	k.Recipe = []byte("{")
	if _, err := progress.LagOf(k); err == nil {
		t.Error("a broken recipe has a lag")
	}
	k.Recipe, k.Progress = recipeText, []byte("{")
	if _, err := progress.LagOf(k); err == nil {
		t.Error("a broken progress has a lag")
	}
	k.Progress = progressText
	own := k.Set(serialize.WeightSet(3)).Tensors
	own["fc3.bias"] = own["fc3.bias"].Rows(0, 9)
	_, err = progress.LagOf(k)
	if err == nil || !strings.Contains(err.Error(), "fc3.bias is f32[9], the model's is f32[10]") {
		t.Errorf("a replica of another shape: %v", err)
	}
	k.Sets = nil
	if lag, err := progress.LagOf(k); lag != nil || err != nil {
		t.Errorf("replicas without weights of their own: %v, %v", lag, err)
	}
}
