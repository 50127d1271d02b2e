package train

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// derivingRecipes are recipes with a template that has another state than the trained one.
var derivingRecipes = map[string]func(*recipe.Recipe){
	"ema":                func(r *recipe.Recipe) { r.EMA = 0.9 },
	"ema, few samples":   func(r *recipe.Recipe) { r.EMA, r.BNPrecise = 0.9, 20 },
	"ema, warm-up":       func(r *recipe.Recipe) { r.EMA, r.EMAWarmup = 0.9, true },
	"ema, replica":       func(r *recipe.Recipe) { r.EMA, r.BN = 0.9, "replica" },
	"bn-precise":         func(r *recipe.Recipe) { r.BNPrecise = 20 },
	"periodic":           func(r *recipe.Recipe) { r.WeightSync, r.BN = "periodic:4", "replica" },
	"neither":            func(*recipe.Recipe) {},
	"ema, one evaluated": func(r *recipe.Recipe) { r.EMA, r.EvalEvery = 0.9, 3 },
}

// TestFiguresAreOfTheTemplate checks that the loss and accuracy of the saved epoch, the last or the best,
// match a separate evaluation of the file. serialize.Strip makes the same template of the run's checkpoint.
func TestFiguresAreOfTheTemplate(t *testing.T) {
	for name, change := range derivingRecipes {
		for _, save := range []string{"last", "best:loss", "best:accuracy"} {
			b := newBench(t, 42)
			r := &b.recipe
			r.Epochs, r.Schedule, r.LR, r.Save, r.Validation = 3, "constant", 1, save, r.Data
			change(r)
			var told []EpochDone
			c := b.config(2)
			c.Validation, c.Checkpoint = b.source, filepath.Join(t.TempDir(), "run.bnc")
			c.Events = func(e Event) {
				if e, ok := e.(EpochDone); ok && e.ValLoss != nil {
					told = append(told, e)
				}
			}
			s, err := New(t.Context(), r, b.model(), c)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			defer s.Close()
			m, err := s.Run(t.Context())
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want := told[len(told)-1]
			if m.Best != nil {
				for _, e := range told {
					if e.Epoch == m.Best.Epoch {
						want = e
					}
				}
			}
			got := b.evaluated(m)
			if got.Accuracy() != *want.ValAccuracy || evaluation.Figure(got.Loss()) != *want.ValLoss {
				t.Errorf("%s, save %s: the run says loss %v, accuracy %v of epoch %d; the template has %v, %v", name,
					save, *want.ValLoss, *want.ValAccuracy, want.Epoch, got.Loss(), got.Accuracy())
			}
			if stale := b.stripped(name+", save "+save, c.Checkpoint, m); stale {
				t.Errorf("%s, save %s: the statistics are not those of the template", name, save)
			}
		}
	}
}

// stripped compares the template that Strip makes of a checkpoint with want, unless the checkpoint's
// statistics are stale.
func (b *bench) stripped(name, path string, want *models.Model) (stale bool) {
	b.t.Helper()
	k, err := serialize.ReadCheckpoint(path)
	if err != nil {
		b.t.Fatal(err)
	}
	m, removed, err := serialize.Strip(k)
	if err != nil {
		b.t.Fatal(err)
	}
	if other := differing(m.State, want.State); !removed.Stale && other != "" {
		b.t.Errorf("%s: stripped, %s is another than in the template", name, other)
	}
	return removed.Stale
}

// TestStripOfAnAverage strips checkpoints of a run that averages weights: without validation the last
// checkpoint has the template's statistics too, and one between two evaluations is reported as stale.
func TestStripOfAnAverage(t *testing.T) {
	b := newBench(t, 42)
	b.recipe.EMA, b.recipe.LR = 0.9, 1
	c := b.config(2)
	c.Checkpoint = filepath.Join(t.TempDir(), "run.bnc")
	template := b.run(New(t.Context(), &b.recipe, b.model(), c))
	if b.stripped("at the end", c.Checkpoint, template) {
		t.Error("the last checkpoint lacks the statistics of the template")
	}
	k, err := serialize.ReadCheckpoint(c.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	trained, _, err := serialize.StripTrained(k)
	if err != nil || differing(trained.State, k.State) != "" || differing(trained.State, template.State) == "" {
		t.Errorf("the trained weights are not those of the state: %v", err)
	}
	k.Sets = slices.DeleteFunc(k.Sets, func(s serialize.Set) bool { return s.Name == serialize.SetEstimated })
	m, removed, err := serialize.Strip(k)
	if err != nil || !removed.Stale || !removed.Averaged {
		t.Fatalf("removed %+v, %v, want a stale average", removed, err)
	}
	for _, s := range m.Graph.State {
		want := template.State[s.Name]
		if s.Role.Statistic() {
			want = k.State[s.Name]
		}
		if !tensor.Equal(m.State[s.Name], want) {
			t.Errorf("%s is not as in the template, or a statistic not that of training", s.Name)
		}
	}
}

// evaluated evaluates a template by itself, on one device.
func (b *bench) evaluated(m *models.Model) *evaluation.Evaluation {
	b.t.Helper()
	f, err := spmd.PredictFunction(m.Graph)
	if err != nil {
		b.t.Fatal(err)
	}
	p := &graph.Program{Name: m.Graph.Name, State: m.Graph.State, Functions: []*graph.Function{f}}
	d, err := parallel.Open(b.t.Context(), p, m.State, b.config(1).Devices,
		parallel.Config{Replicas: 1, Batch: 7})
	if err != nil {
		b.t.Fatal(err)
	}
	defer d.Close()
	e, err := evaluation.Run(b.t.Context(), d, b.source, evaluation.Options{Batch: 7})
	if err != nil {
		b.t.Fatal(err)
	}
	return e
}

// TestStoppedWhileItEvaluates checks that a run that is stopped while the devices hold the
// template for an evaluation continues with the trained weights.
func TestStoppedWhileItEvaluates(t *testing.T) {
	for name, change := range derivingRecipes {
		for _, doing := range []string{"estimating statistics", "evaluating"} {
			b := newBench(t, 42)
			b.recipe.Validation = b.recipe.Data
			change(&b.recipe)
			c := b.config(1)
			c.Validation = b.source
			want := b.template(New(t.Context(), &b.recipe, b.model(), c))
			if got, stopped := b.stoppedWhile(doing); stopped && got != want {
				t.Errorf("%s: stopped while %s the template is %s, undisturbed %s", name, doing, got, want)
			}
		}
	}
}

// stoppedWhile stops a run when it first reports the given activity, and resumes it. stopped is false if the
// run never reported it.
func (b *bench) stoppedWhile(doing string) (sum string, stopped bool) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	defer cancel()
	c := b.config(2)
	c.Validation, c.Checkpoint = b.source, filepath.Join(b.t.TempDir(), "run.bnc")
	c.Watch = func(m Moment) {
		if m.Doing == doing {
			cancel()
		}
	}
	s, err := New(ctx, &b.recipe, b.model(), c)
	if err != nil {
		b.t.Fatal(err)
	}
	_, err = s.Run(ctx)
	if s.Close(); err == nil {
		return "", false
	}
	if !errors.Is(err, context.Canceled) {
		b.t.Fatal(err)
	}
	k, err := serialize.ReadCheckpoint(c.Checkpoint)
	if err != nil {
		b.t.Fatal(err)
	}
	c = b.config(3)
	c.Validation = b.source
	return b.template(Resume(b.t.Context(), k, &b.recipe, c)), true
}
