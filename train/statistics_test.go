package train

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

func newReplicaBench(t *testing.T, how StatisticsConfig) *bench {
	b := newBench(t, 24) // two steps an epoch
	b.recipe.BN, b.recipe.BNStats, b.recipe.BNUpdate = bn.Replica, how.Rule, how.Update
	return b
}

var keepings = []StatisticsConfig{
	{"pooled", bn.Pooled, bn.EveryStep}, {"mean", bn.Mean, bn.EveryStep}, {"first", bn.First, bn.EveryStep},
	{"async", bn.Pooled, "async:3"},
	{"posthoc", bn.Pooled, bn.PostHoc}, {"posthoc-mean", bn.Mean, bn.PostHoc},
	{"posthoc-first", bn.First, bn.PostHoc},
}

// TestSameTemplateHoweverStatisticsAreKept trains on several numbers of devices. It also stops runs and
// resumes them on other devices.
func TestSameTemplateHoweverStatisticsAreKept(t *testing.T) {
	for _, how := range []StatisticsConfig{keepings[1], keepings[3], keepings[4]} {
		t.Run(how.Name, func(t *testing.T) {
			b := newReplicaBench(t, how)
			ctx := context.Background()
			want := b.template(New(ctx, &b.recipe, b.model(), b.config(1)))
			if got := b.template(New(ctx, &b.recipe, b.model(), b.config(3))); got != want {
				t.Errorf("3 devices: template %s, on one device %s", got, want)
			}
			if got := b.resumed(3); got != want {
				t.Errorf("resumed: template %s, undisturbed %s", got, want)
			}
		})
	}
}

// trainOnce trains on one device. The checkpoint is from the last step.
func (b *bench) trainOnce(besides ...StatisticsConfig) (*models.Model, *serialize.Checkpoint, *Session) {
	b.t.Helper()
	c := b.config(1)
	c.Checkpoint, c.ExtraStatistics = filepath.Join(b.t.TempDir(), "run.bnc"), besides
	s, err := New(context.Background(), &b.recipe, b.model(), c)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { s.Close() })
	m, err := s.Run(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	k, err := serialize.ReadCheckpoint(c.Checkpoint)
	if err != nil {
		b.t.Fatal(err)
	}
	return m, k, s
}

// TestStatisticsBesideInfluenceNothing checks that a run that keeps all kinds of statistics
// has, for each kind, the statistics of a run that keeps only these.
func TestStatisticsBesideInfluenceNothing(t *testing.T) {
	all, _, s := newReplicaBench(t, keepings[0]).trainOnce(keepings...)
	besides := beside(t, s)
	for _, i := range []int{1, 3, 4} {
		how, beside := keepings[i], besides[i]
		alone, k, _ := newReplicaBench(t, how).trainOnce()
		if name := differing(beside, alone.State); name != "" {
			t.Errorf("%s: %s differs from a run that keeps nothing else", how.Name, name)
		}
		stripped, _, err := serialize.Strip(k)
		if err != nil {
			t.Fatal(err)
		}
		if name := differing(stripped.State, alone.State); name != "" {
			t.Errorf("%s: %s of the last checkpoint, stripped, is not that of the template", how.Name, name)
		}
		for name, w := range all.State {
			if _, statistic := beside[name]; !statistic && string(alone.State[name].Bytes) != string(w.Bytes) {
				t.Errorf("%s: the statistics changed weight %s", how.Name, name)
			}
		}
	}
}

// Statistics kept in addition to the recipe's can be evaluated after the run, whichever way weights are
// kept.
func TestEvaluationWithStatisticsBeside(t *testing.T) {
	for _, sync := range []weightsync.Sync{weightsync.AllReduce, "periodic:2"} {
		b := newReplicaBench(t, keepings[0])
		b.recipe.WeightSync = sync
		_, _, s := b.trainOnce(keepings[:3]...)
		ctx := context.Background()
		running, err := s.trainer.statistics.final() // Evaluate could estimate statistics again
		if err != nil {
			t.Fatal(err)
		}
		own, err := s.EvaluateWith(ctx, running)
		if err != nil {
			t.Fatal(err)
		}
		for i, statistics := range beside(t, s) {
			e, err := s.EvaluateWith(ctx, statistics)
			if err != nil {
				t.Fatal(err)
			}
			if same := e.LossSum == own.LossSum; same != (i == 0) {
				t.Errorf("%s, %s: loss %v, that of the recipe's own statistics is %v", sync, keepings[i].Name,
					e.LossSum, own.LossSum)
			}
		}
	}
}

// differing names a tensor of got that differs in want, or returns "" if all are equal.
func differing(got, want map[string]tensor.Tensor) string {
	for name, g := range got {
		if string(g.Bytes) != string(want[name].Bytes) {
			return name
		}
	}
	return ""
}

// TestMergeOfReplicasByAnyRule: the statistics in a checkpoint can be merged by any rule, whichever rule the
// run uses.
func TestMergeOfReplicasByAnyRule(t *testing.T) {
	_, k, s := newReplicaBench(t, keepings[4]).trainOnce(keepings[4:]...)
	seen := map[string]bool{}
	for i, want := range beside(t, s) {
		rule := keepings[4+i].Rule
		merged, err := serialize.MergeReplicas(k, rule)
		if err != nil {
			t.Fatal(err)
		}
		if name := differing(want, merged.State); name != "" {
			t.Errorf("%s: %s is not that of a run which merges so", rule, name)
		}
		seen[fmt.Sprint(merged.State["bn1.running_var"].F32())] = true
	}
	if len(seen) != len(bn.Rules()) {
		t.Errorf("%d rules give %d results", len(bn.Rules()), len(seen))
	}
}

func TestRunsWithoutStatisticsOfReplicas(t *testing.T) {
	b := newReplicaBench(t, keepings[0])
	_, k, _ := b.trainOnce()
	if _, err := serialize.MergeReplicas(k, bn.Pooled); err == nil || !strings.Contains(err.Error(), "posthoc") {
		t.Errorf("merged: %v", err)
	}
	c := b.config(1)
	c.ExtraStatistics = keepings[3:4]
	_, err := Resume(context.Background(), k, &b.recipe, c)
	if err == nil || !strings.Contains(err.Error(), "beside/async") {
		t.Errorf("resumed with statistics beside that it did not keep: %v", err)
	}
}

func TestContradictingStatisticsAreRefused(t *testing.T) {
	for _, c := range []struct {
		change func(*recipe.Recipe)
		want   string
	}{
		{func(r *recipe.Recipe) { r.BNUpdate = bn.PostHoc }, "add bn replica"},
		{func(r *recipe.Recipe) { r.BNUpdate = "async:2" }, "add bn replica"},
		{func(r *recipe.Recipe) { r.BN, r.BNUpdate = bn.Frozen, bn.PostHoc }, "add bn replica"},
		{func(r *recipe.Recipe) { r.BN, r.BNUpdate, r.BNStats = bn.Replica, "async:2", bn.First },
			"drop one of them"},
		{func(r *recipe.Recipe) { r.BN, r.BNUpdate, r.BNMin = bn.Replica, bn.PostHoc, "running" },
			"bn-update step"},
		{func(r *recipe.Recipe) { r.BN, r.BNUpdate = bn.Replica, "async:-1" }, "async:S"},
		{func(r *recipe.Recipe) { r.BN, r.Init, r.BNPrecise = bn.Frozen, "given", 10 }, "drop one of them"},
	} {
		r := newBench(t, 42).recipe
		c.change(&r)
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("--bn %s --bn-stats %s --bn-update %s --bn-min %s: %v, want an error that says %q",
				r.BN, r.BNStats, r.BNUpdate, r.BNMin, err, c.want)
		}
	}
}

func beside(t *testing.T, s *Session) []map[string]tensor.Tensor {
	t.Helper()
	all, err := s.ExtraStatistics()
	if err != nil {
		t.Fatal(err)
	}
	return all
}
