package train

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
)

func newSyncBench(t *testing.T, w weightsync.Sync) *bench {
	b := newBench(t, 24) // two steps an epoch
	b.recipe.BN, b.recipe.WeightSync = bn.Replica, w
	return b
}

// TestSameTemplateHoweverWeightsAreSynchronised trains on several numbers of devices. It also stops runs and
// resumes them on other devices.
func TestSameTemplateHoweverWeightsAreSynchronised(t *testing.T) {
	for _, w := range []weightsync.Sync{weightsync.Template, "async:2", "periodic:1", "periodic:3"} {
		t.Run(string(w), func(t *testing.T) {
			b := newSyncBench(t, w)
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

// One device that updates for all, and gradients without delay, are equivalent to summing
// gradients everywhere.
func TestWaysThatEqualAllReduce(t *testing.T) {
	all, _, _ := newSyncBench(t, weightsync.AllReduce).trainOnce()
	for _, w := range []weightsync.Sync{weightsync.Template, "async:0"} {
		got, _, _ := newSyncBench(t, w).trainOnce()
		if name := differing(got.State, all.State); name != "" {
			t.Errorf("%s: %s differs from allreduce", w, name)
		}
	}
	stale, _, _ := newSyncBench(t, "async:2").trainOnce()
	if name := differing(stale.State, all.State); name == "" {
		t.Error("gradients that come late change nothing")
	}
}

// Replicas of equal size that meet after every step, with plain SGD, are equivalent to
// summing gradients, up to rounding.
func TestLocalSGDAtEveryStepIsAllReduce(t *testing.T) {
	plain := func(w weightsync.Sync) *bench {
		b := newSyncBench(t, w)
		b.recipe.Epochs, b.recipe.Steps, b.recipe.Tail = 0, 12, parallel.Drop
		b.recipe.Momentum, b.recipe.WeightDecay = 0, 0
		return b
	}
	all, _, _ := plain(weightsync.AllReduce).trainOnce()
	each, _, _ := plain("periodic:1").trainOnce()
	for name, want := range all.State {
		for i, v := range want.F32() {
			if got := each.State[name].F32()[i]; math.Abs(float64(got-v)) > 1e-5*max(1, math.Abs(float64(v))) {
				t.Errorf("%s[%d] is %v, with allreduce %v", name, i, got, v)
				break
			}
		}
	}
	apart, _, _ := plain("periodic:4").trainOnce()
	if name := differing(apart.State, each.State); name == "" {
		t.Error("replicas that meet rarely are where those are that meet at every step")
	}
}

func TestReplicasOnTheirOwnAreNotSynchronised(t *testing.T) {
	for _, w := range []weightsync.Sync{"async:1", "periodic:2"} {
		r := newSyncBench(t, w).recipe
		r.BN = bn.Sync
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), "bn replica") {
			t.Errorf("%s with --bn sync: %v", w, err)
		}
	}
	r := newSyncBench(t, weightsync.AllReduce).recipe
	for _, w := range []weightsync.Sync{"", "async", "async:65", "periodic:0", "async:-1", "periodic:+2"} {
		r.WeightSync = w
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), "weight synchronisation") {
			t.Errorf("--weight-sync %q: %v", w, err)
		}
	}
}
