package train

import (
	"context"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/recipe"
)

// gaps trains one epoch and returns the reported gaps.
func (b *bench) gaps() []*Gap {
	b.t.Helper()
	var gaps []*Gap
	c := b.config(2)
	c.Events = func(e Event) {
		if done, ok := e.(EpochDone); ok {
			gaps = append(gaps, done.Gap)
		}
	}
	s, err := New(context.Background(), &b.recipe, b.model(), c)
	if err != nil {
		b.t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(context.Background()); err != nil {
		b.t.Fatal(err)
	}
	return gaps
}

// Four steps at a decay of 0.9 leave the running statistics near their initial values.
func TestGapBetweenTrainingAndUse(t *testing.T) {
	b := newBench(t, 24)
	b.recipe.LR, b.recipe.LabelSmoothing = 0.5, 0.1
	gaps := b.gaps()
	if len(gaps) != 2 || gaps[0] == nil || gaps[1] == nil {
		t.Fatalf("gaps %v, want one for each of two epochs", gaps)
	}
	if last := gaps[1]; !(last.Running > last.Batch+0.05) {
		t.Errorf("loss %v with statistics of the batch, %v with the running ones", last.Batch, last.Running)
	}
}

// A large gap is reported with advice, a small one without.
func TestGapsAreAdvisedOn(t *testing.T) {
	advised := 0
	for _, lr := range []float64{1e-6, 2} {
		b := newBench(t, 24)
		b.recipe.LR, b.recipe.Schedule = lr, "constant"
		for _, g := range b.gaps() {
			if g.large() != (g.Advice != "") {
				t.Errorf("gap %+v", *g)
			}
			if g.large() {
				advised++
			}
		}
	}
	if advised == 0 || advised == 4 {
		t.Errorf("%d of 4 gaps are large: the test shows nothing", advised)
	}
}

// sessionOf returns a session that has a plan and has not made a step.
func sessionOf(p *plan) *Session { return &Session{plan: p, trainer: &trainer{plan: p}} }

func TestAdviceOnTheGap(t *testing.T) {
	for _, c := range []struct {
		gap    Gap
		change func(*recipe.Recipe)
		want   string
	}{
		{Gap{Batch: 0.3, Running: 0.5}, func(*recipe.Recipe) {}, ""},
		{Gap{Batch: 0.5, Running: 0.1}, func(*recipe.Recipe) {}, ""},
		{Gap{Batch: 0.3, Running: 2}, func(r *recipe.Recipe) { r.BNPrecise = 24 }, ""},
		{Gap{Batch: 0.3, Running: 2}, func(*recipe.Recipe) {}, "try bn-precise 24"},
		{Gap{Batch: 0.3, Running: 2}, func(r *recipe.Recipe) { r.BN, r.BNStats = bn.Replica, bn.Mean },
			"try bn-stats pooled or bn sync"},
		{Gap{Batch: 0.3, Running: 2}, func(r *recipe.Recipe) { r.BN, r.BNUpdate = bn.Replica, "async:4" },
			"bn-update step"},
	} {
		r := newBench(t, 24).recipe
		c.change(&r)
		got := (sessionOf(&plan{recipe: &r})).adviceOn(&c.gap)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("batch %g, running %g: advice %q, want %q", c.gap.Batch, c.gap.Running, got, c.want)
		}
	}
}

func TestNoGapWithoutRunningStatistics(t *testing.T) {
	b := newBench(t, 24)
	b.recipe.BN, b.recipe.Init, b.recipe.Epochs = bn.Frozen, "given", 1
	if gaps := b.gaps(); len(gaps) != 1 || gaps[0] != nil {
		t.Errorf("gaps %v of a run that normalises with running statistics", gaps)
	}
}

// The last full batch of an epoch, or of the run, is kept. Of two batches with the same number of rows it is
// the later one.
func TestBatchForTheGap(t *testing.T) {
	r := newBench(t, 42).recipe // three steps an epoch
	r.Epochs, r.Steps = 0, 5
	s := sessionOf(&plan{recipe: &r, layers: make([]bn.Layer, 1)})
	for step, want := range []bool{false, true, true, true, true} {
		if got := s.mayBeProbe(step); got != want {
			t.Errorf("step %d: %v", step, got)
		}
	}
	kept := func(step int, sizes ...int) float32 {
		s.trainer.progress.Step = step
		s.remember(parallel.Batch{Sizes: sizes, Inverse: float32(step)})
		return s.probe.Inverse
	}
	if kept(0, 4, 4) != 0 || kept(1, 4, 4) != 1 || kept(2, 4, 3) != 1 || kept(3, 4, 4) != 3 ||
		kept(4, 3, 3) != 3 {
		t.Errorf("at last the batch of step %v is kept", s.probe.Inverse)
	}
	if s.plan.layers = nil; s.mayBeProbe(2) {
		t.Error("there is no gap without running statistics")
	}
}
