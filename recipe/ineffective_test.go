package recipe

import (
	"strings"
	"testing"
)

func TestIdle(t *testing.T) {
	for _, c := range []struct {
		epochs, steps int
		schedule      string
		warmup        float64
		want          []string
	}{
		{2, 0, "cosine", 0, nil},
		{2, 0, "step:1", 1, nil},
		{2, 0, "step:1,2", 0, []string{"schedule step:1,2: epoch 2 is never reached, the run has 2 epochs"}},
		{1, 0, "step:30,60", 0, []string{"epoch 30, 60 is never reached, the run has 1 epoch"}},
		{0, 3, "step:1.4", 0, nil}, // an epoch has two steps
		{0, 3, "step:1.5", 0, []string{"has 1.5 epochs"}},
		{1, 0, "constant", 1, []string{"warmup 1: the learning rate never comes down again, the run has 1 epoch"}},
		{1, 0, "constant", 0.7, nil},
		{1, 0, "constant", 0.9, []string{"warmup 0.9: the learning rate never comes down again"}}, // both steps
		{1, 0, "constant", 5, []string{"warmup 5: the learning rate never reaches 0.05, the run has 1 epoch: the last " +
			"step has 0.01"}},
		{0, 1, "cosine", 0.9, []string{"warmup 0.9: the learning rate never reaches 0.05, the run has 0.5 epochs"}},
		{0, 1, "cosine", 0.2, nil}, // the warm-up rounds to no step
	} {
		r := exampleRecipe(24)
		r.Epochs, r.Steps, r.Schedule, r.Warmup = c.epochs, c.steps, c.schedule, c.warmup
		got := r.Ineffective()
		if len(got) != len(c.want) {
			t.Errorf("%+v: %q", c, got)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i].Error(), want) {
				t.Errorf("%+v: %q, want %q", c, got[i].Error(), want)
			}
		}
	}
}
