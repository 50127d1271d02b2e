package train

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/data/augmentation"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/recipe"
)

// told trains on a device and returns the events of the run.
func (b *bench) told(change func(*Config)) (events []Event) {
	b.t.Helper()
	c := b.config(1)
	c.Events = func(e Event) { events = append(events, e) }
	if change != nil {
		change(&c)
	}
	s, err := New(context.Background(), &b.recipe, b.model(), c)
	if err != nil {
		b.t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(context.Background()); err != nil {
		b.t.Fatal(err)
	}
	return events
}

// of returns the events of a type.
func of[E Event](all []Event) (some []E) {
	for _, e := range all {
		if x, ok := e.(E); ok {
			some = append(some, x)
		}
	}
	return some
}

// outline describes the events of a run, in order: "step 2 of epoch 1".
func outline(events []Event) (lines []string) {
	for _, e := range events {
		switch e := e.(type) {
		case Started:
			lines = append(lines, fmt.Sprintf("start %d to %d, %s", e.FirstStep, e.TotalSteps, e.BatchNorm))
		case Stepped:
			lines = append(lines, fmt.Sprintf("step %d of epoch %d", e.Step, e.Epoch))
		case EpochDone:
			lines = append(lines, fmt.Sprintf("epoch %d, evaluated %v, %d seen", e.Epoch, e.ValLoss != nil, e.Seen))
		case CheckpointWritten:
			lines = append(lines, fmt.Sprintf("checkpoint %d", e.Step))
		case StoppedEarly:
			lines = append(lines, fmt.Sprintf("stopped at %d, best epoch %d, %d since", e.Step, e.BestEpoch,
				e.Evaluations))
		default:
			lines = append(lines, e.Event())
		}
	}
	return lines
}

// The events of a run, and when they occur: 42 samples are three steps an epoch.
func TestWhatARunTells(t *testing.T) {
	b := newBench(t, 42)
	for _, c := range []struct {
		name   string
		recipe func(*recipe.Recipe)
		config func(*Config)
		want   []string
	}{
		{"every step", func(r *recipe.Recipe) { r.Epochs = 1 }, nil,
			[]string{"start 0 to 3, 16 samples, synchronised over 4 replicas", "step 1 of epoch 1",
				"step 2 of epoch 1", "step 3 of epoch 1", "epoch 1, evaluated true, 42 seen"}},
		{"every second", func(r *recipe.Recipe) {}, func(c *Config) { c.LogEvery = 2 },
			[]string{"start 0 to 6, 16 samples, synchronised over 4 replicas", "step 2 of epoch 1",
				"epoch 1, evaluated true, 42 seen", "step 4 of epoch 2", "step 6 of epoch 2",
				"epoch 2, evaluated true, 42 seen"}},
		{"five steps, evaluated rarely", func(r *recipe.Recipe) { r.Epochs, r.Steps, r.EvalEvery = 0, 5, 3 },
			func(c *Config) { c.LogEvery = 9 },
			[]string{"start 0 to 5, 16 samples, synchronised over 4 replicas", "epoch 1, evaluated false, 42 seen",
				"step 5 of epoch 2", "epoch 2, evaluated true, 32 seen"}},
		{"no validation", func(r *recipe.Recipe) { r.Epochs = 1 }, func(c *Config) { c.LogEvery, c.Validation = 9, nil },
			[]string{"start 0 to 3, 16 samples, synchronised over 4 replicas", "step 3 of epoch 1",
				"epoch 1, evaluated false, 42 seen"}},
		{"checkpoints of epochs", func(r *recipe.Recipe) {}, func(c *Config) {
			c.LogEvery, c.Checkpoint = 9, filepath.Join(t.TempDir(), "run.bnc")
		}, []string{"start 0 to 6, 16 samples, synchronised over 4 replicas", "epoch 1, evaluated true, 42 seen",
			"checkpoint 3", "step 6 of epoch 2", "epoch 2, evaluated true, 42 seen", "checkpoint 6"}},
		{"checkpoints of steps", func(r *recipe.Recipe) {}, func(c *Config) {
			c.LogEvery, c.Checkpoint, c.CheckpointEvery = 9, filepath.Join(t.TempDir(), "run.bnc"), 4
		}, []string{"start 0 to 6, 16 samples, synchronised over 4 replicas", "epoch 1, evaluated true, 42 seen",
			"checkpoint 4", "step 6 of epoch 2", "epoch 2, evaluated true, 42 seen", "checkpoint 6"}},
		{"patience", func(r *recipe.Recipe) {
			r.Epochs, r.LR, r.Patience, r.Save = 6, 1e-30, 2, "best:accuracy"
			r.BN, r.Init, r.Validation = "frozen", "given", r.Data
		}, func(c *Config) { c.LogEvery = 99 },
			[]string{"start 0 to 18, running statistics, frozen", "epoch 1, evaluated true, 42 seen",
				"epoch 2, evaluated true, 42 seen", "epoch 3, evaluated true, 42 seen",
				"stopped at 9, best epoch 1, 2 since"}},
	} {
		in := *b
		c.recipe(&in.recipe)
		if got := outline(in.told(c.config)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The figures of an epoch, and of several steps, are the means of the steps' figures, weighted by the number
// of labels. Shares of time are at most 1 in total.
func TestFiguresOfARun(t *testing.T) {
	b := newBench(t, 42)
	each := b.told(nil)
	epochs, steps := of[EpochDone](each), of[Stepped](each)
	rows := []float64{16, 16, 10}
	for i, e := range epochs {
		var loss, accuracy float64
		for j, n := range rows {
			s := steps[3*i+j]
			loss, accuracy = loss+s.Loss*n, accuracy+float64(s.Accuracy)*n
			if s.Throughput <= 0 || s.InputWait < 0 || s.InputWait > 1 || s.SyncWait < 0 || s.SyncWait > 1 {
				t.Errorf("step %d: %+v", s.Step, s)
			}
			if left := s.Remaining * s.Throughput; math.Abs(left-float64(16*(6-s.Step))) > 1 {
				t.Errorf("step %d: %g rows remain", s.Step, left)
			}
		}
		if math.Abs(e.TrainLoss-loss/42) > 1e-9 || math.Abs(float64(e.TrainAccuracy)-accuracy/42) > 1e-9 {
			t.Errorf("epoch %d: loss %g, accuracy %g, want %g, %g", e.Epoch, e.TrainLoss, e.TrainAccuracy, loss/42,
				accuracy/42)
		}
		if e.Seconds <= 0 || math.Abs(e.Throughput*e.Seconds/42-1) > 0.5 {
			t.Errorf("epoch %d: 42 rows in %g s are %g a second", e.Epoch, e.Seconds, e.Throughput)
		}
	}
	pairs := of[Stepped](b.told(func(c *Config) { c.LogEvery = 2 }))
	for i, s := range pairs {
		first, second := steps[2*i], steps[2*i+1]
		n, m := rows[2*i%3], rows[(2*i+1)%3]
		if want := (first.Loss*n + second.Loss*m) / (n + m); math.Abs(s.Loss-want) > 1e-9 {
			t.Errorf("steps to %d: loss %g, want %g", s.Step, s.Loss, want)
		}
		if s.LR != second.LR {
			t.Errorf("step %d: learning rate %g, want %g", s.Step, s.LR, second.LR)
		}
	}
}

// The text of batchNormSees covers every way of computing batch norms.
func TestWhatBatchNormSees(t *testing.T) {
	for _, c := range []struct {
		change func(*recipe.Recipe)
		want   string
	}{
		{func(r *recipe.Recipe) {}, "16 samples, synchronised over 4 replicas"},
		{func(r *recipe.Recipe) { r.BN = "replica" }, "4 samples per replica (16 / 4)"},
		{func(r *recipe.Recipe) { r.BN, r.Replicas = "replica", 3 }, "6 samples per replica (16 / 3)"},
		{func(r *recipe.Recipe) { r.BN, r.Replicas = "replica", 16 }, "1 sample per replica (16 / 16)"},
		{func(r *recipe.Recipe) { r.BN, r.Accumulate = "replica", 2 }, "4 samples per replica (32 / 8)"},
		{func(r *recipe.Recipe) { r.BN = "frozen" }, "running statistics, frozen"},
	} {
		b := newBench(t, 42)
		r, m := b.recipe, b.model()
		c.change(&r)
		sees := func() string {
			return (sessionOf(&plan{recipe: &r, template: m})).batchNormSees()
		}
		if got := sees(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		f := m.Graph.Main
		f.Nodes = slices.DeleteFunc(f.Nodes, func(n graph.Node) bool { return n.Op == graph.BatchNorm })
		if got, want := sees(), "none in this network"; got != want {
			t.Errorf("without batch norm: %q, want %q", got, want)
		}
	}
}

// Training changes the running statistics, unless the recipe keeps them or estimates them again.
func TestMoves(t *testing.T) {
	for _, c := range []struct {
		decay      float64
		cumulative bool
		change     func(*recipe.Recipe)
		refused    bool
	}{
		{0.9, false, func(*recipe.Recipe) {}, false},
		{1, false, func(*recipe.Recipe) {}, true},
		{1, true, func(*recipe.Recipe) {}, false},
		{1, false, func(r *recipe.Recipe) { r.BN = bn.Frozen }, false},
		{1, false, func(r *recipe.Recipe) { r.BNPrecise = 4 }, false},
	} {
		b := newBench(t, 42)
		r, m := b.recipe, b.model()
		c.change(&r)
		for i := range m.Graph.Main.Nodes {
			if n := &m.Graph.Main.Nodes[i]; n.Op == graph.BatchNorm {
				n.Attrs = n.Attrs.With("decay", c.decay).With("cumulative", c.cumulative)
			}
		}
		if err := r.CheckDecay(m); (err != nil) != c.refused {
			t.Errorf("decay %g, cumulative %v, %s: %v", c.decay, c.cumulative, r.BN, err)
		}
	}
}

// Samples of the tail that are left out are counted when the epoch is complete.
func TestDroppedTailIsTold(t *testing.T) {
	b := newBench(t, 42)
	b.recipe.Tail, b.recipe.Epochs, b.recipe.Steps = parallel.Drop, 0, 3
	epochs := of[EpochDone](b.told(nil))
	if len(epochs) != 2 || epochs[0].Dropped != 10 || epochs[1].Dropped != 0 {
		t.Errorf("%+v, want 10 dropped in the first and none in the half second", epochs)
	}
}

// Images are evaluated without the augmentation of training. The seconds of a run are
// counted from its start.
func TestEvaluationIsNotAugmented(t *testing.T) {
	var losses []evaluation.Figure
	for _, augment := range []string{"none", "cifar"} {
		b := newBench(t, 42)
		b.recipe.Augment, b.recipe.Epochs, b.recipe.LR = augmentation.MustParse(augment), 1, 1e-30
		b.recipe.BN, b.recipe.Init = "frozen", "given"
		c := b.config(1)
		c.Events = func(e Event) {
			if e, ok := e.(EpochDone); ok {
				losses = append(losses, *e.ValLoss)
				if e.Warning != "" {
					t.Errorf("a finite loss is warned of: %s", e.Warning)
				}
			}
		}
		s, err := New(context.Background(), &b.recipe, b.model(), c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		done := s.Finished("path", "sum")
		if s.Close(); done.Seconds <= 0 || done.Seconds > 1000 || done.Steps != 3 || done.Model != "path" {
			t.Errorf("%+v", done)
		}
	}
	if losses[0] != losses[1] {
		t.Errorf("losses %v with the same weights", losses)
	}
}
