package train

import (
	"context"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/evaluation/estimation"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// A run that cannot start returns the reason, and holds no device or memory afterwards.
func TestRunsThatCannotStart(t *testing.T) {
	for want, change := range map[string]func(*bench, *Config){
		"recompute": func(_ *bench, c *Config) { c.Recompute = "x" },
		"is not a name, or is given twice": func(b *bench, c *Config) {
			c.ExtraStatistics = []StatisticsConfig{{"a", bn.Pooled, bn.EveryStep}, {"a", bn.Mean, bn.EveryStep}}
		},
		"a/b": func(b *bench, c *Config) { c.ExtraStatistics = []StatisticsConfig{{"a/b", bn.Pooled, bn.EveryStep}} },
		"lr":  func(b *bench, c *Config) { b.recipe.LR = 0 },
	} {
		b := newBench(t, 24)
		b.recipe.BN = bn.Replica
		c := b.config(1)
		whole := b.stopped(1)
		change(b, &c)
		s, err := New(context.Background(), &b.recipe, b.model(), c)
		if err == nil || s != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("new: %v, want %q", err, want)
		}
		k := whole()
		k.Recipe = b.recipe.JSON()
		s, err = Resume(context.Background(), k, &b.recipe, c)
		if err == nil || s != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("resumed: %v, want %q", err, want)
		}
	}
	b := newBench(t, 24)
	k := b.stopped(1)()
	delete(k.State, "fc1.weight")
	if _, err := Resume(context.Background(), k, &b.recipe, b.config(1)); err == nil {
		t.Error("a checkpoint without a weight is resumed")
	}
	ctx, stop := context.WithCancelCause(context.Background())
	stop(errPlanted)
	if _, err := New(ctx, &b.recipe, b.model(), b.config(1)); !errors.Is(err, errPlanted) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// The averages begin at the weights, and the initial model of a run is not changed.
func TestAveragesBeginAtTheWeights(t *testing.T) {
	t.Run("slow", func(t *testing.T) { averaged(t, 1e-12) })
	t.Run("fast", func(t *testing.T) { averaged(t, 0.1) })
}

func averaged(t *testing.T, lr float64) {
	b := newBench(t, 24)
	b.recipe.EMA, b.recipe.LR, b.recipe.WeightDecay = 0.9, lr, 0
	m := b.model()
	before := maps.Clone(m.State)
	c := b.config(1)
	c.Checkpoint = filepath.Join(t.TempDir(), "run.bnc")
	s, err := New(context.Background(), &b.recipe, m, c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	after, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	k, err := serialize.ReadCheckpoint(c.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range s.plan.trained {
		if !tensor.Equal(after.State[name], k.State["average/"+name]) {
			t.Errorf("%s of the template is not its average", name)
		}
	}
	if len(m.State) != len(before) || differing(before, m.State) != "" {
		t.Errorf("the model has %d tensors, it had %d", len(m.State), len(before))
	}
	for _, name := range s.plan.trained {
		for i, v := range after.State[name].F32() {
			if lr < 1e-6 && math.Abs(float64(v-before[name].F32()[i])) > 1e-6 {
				t.Fatalf("%s: element %d is %v, it was %v", name, i, v, before[name].F32()[i])
			}
		}
	}
}

// With the sync "template" one device makes every update, otherwise each device does.
func TestWhoUpdates(t *testing.T) {
	for sync, want := range map[weightsync.Sync]bool{weightsync.Template: false, weightsync.AllReduce: true} {
		b := newBench(t, 24)
		b.recipe.WeightSync = sync
		c := b.config(2)
		second := &mistakes{at: -1}
		c.Devices[1].Device = &mistaken{c.Devices[1].Device, second}
		b.template(New(context.Background(), &b.recipe, b.model(), c))
		if got := slices.Contains(second.calls, "Commit"); got != want {
			t.Errorf("%s: the second device updates: %v", sync, got)
		}
	}
}

// The run reports devices that cannot exchange without the host, and devices that come back.
func TestDevicesAreToldOf(t *testing.T) {
	var told []Event
	c := Config{Events: func(e Event) { told = append(told, e) }}
	s := sessionOf(&plan{config: c})
	s.trainer.progress.Step = 3
	s.slower(errPlanted)
	s.back(parallel.RejoinedDevice{Device: "a"})
	want := []Event{AtHost{Level: device.Stream, Reason: errPlanted.Error()}, DeviceBack{Device: "a", Step: 3}}
	if !slices.Equal(told, want) {
		t.Errorf("told %+v, want %+v", told, want)
	}
}

// The last checkpoint is due at the end, unless it was just written. A failure to write it
// ends the run.
func TestLastCheckpointCannotBeWritten(t *testing.T) {
	b := newBench(t, 24)
	c := b.config(1)
	c.Checkpoint, c.CheckpointEvery = filepath.Join(t.TempDir(), "nowhere", "run.bnc"), 100
	s, err := New(context.Background(), &b.recipe, b.model(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(context.Background()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the run returned %v", err)
	}
}

// Statistics are estimated again at the end for averages, if there are statistics, and if
// the recipe requests it.
func TestEstimateOver(t *testing.T) {
	for _, c := range []struct {
		change func(*recipe.Recipe)
		kept   int
		want   int
	}{
		{func(*recipe.Recipe) {}, 1, 0}, {func(r *recipe.Recipe) { r.BNPrecise = 5 }, 1, 5},
		{func(r *recipe.Recipe) { r.EMA = 0.9 }, 1, 8192},
		{func(r *recipe.Recipe) { r.EMA = 0.9 }, 0, 0},
		{func(r *recipe.Recipe) { r.EMA, r.BNPrecise = 0.9, 5 }, 1, 5},
		{func(r *recipe.Recipe) { r.WeightSync = "periodic:2" }, 1, 8192},
		{func(r *recipe.Recipe) { r.WeightSync = "periodic:1" }, 1, 0},
	} {
		r := newBench(t, 24).recipe
		c.change(&r)
		s := sessionOf(&plan{recipe: &r})
		s.trainer.statistics = make(statistics, c.kept)
		if got := s.estimateOver(); got != c.want {
			t.Errorf("%s with %d statistics: %d, want %d", r.JSON(), c.kept, got, c.want)
		}
	}
}

// estimators is an estimator made of a function.
type estimators func() (parallel.Result, error)

func (f estimators) Moments(context.Context, parallel.Batch) (parallel.Result, error) { return f() }

// Errors while statistics are estimated again end the estimation: data, devices, moments
// that are not finite.
func TestReestimationEndsWithErrors(t *testing.T) {
	b := newBench(t, 24)
	layers := []bn.Layer{{Name: "bn", Channels: 1, Elements: 1, Mean: "mean", Variance: "var"}}
	moments := func(mean float64) estimators {
		return func() (parallel.Result, error) {
			return parallel.Result{Moments: []tensor.Tensor{tensor.Of([]float64{16, mean, 1}, 1, 3)}}, nil
		}
	}
	for _, c := range []struct {
		name  string
		at    int64
		with  estimators
		wants func(error) bool
	}{
		{"nothing", 0, moments(1), func(err error) bool { return err == nil }},
		{"data", 1, moments(1), func(err error) bool { return errors.Is(err, errPlanted) }},
		{"a device", 0, func() (parallel.Result, error) { return parallel.Result{}, errPlanted },
			func(err error) bool { return errors.Is(err, errPlanted) }},
		{"moments", 0, moments(math.NaN()), func(err error) bool {
			var bad *bn.NonFinite
			return errors.As(err, &bad) && strings.Contains(err.Error(), "re-estimating")
		}},
	} {
		l, err := data.NewLoader(t.Context(), &mistakenSource{Source: b.source, at: c.at},
			data.Plan{Batch: 16, Epochs: 1, Transform: fit.Transform(b.model(), b.source.Info())})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = estimation.Reestimate(t.Context(), c.with, l,
			estimation.Reestimation{Layers: layers, Input: "x", Batch: 16, Replicas: 1, Samples: 24})
		if l.Close(); !c.wants(err) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
